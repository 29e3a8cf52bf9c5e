/** The ranges of Service addresses, and the addresses that Services hold. */
import type { KindDefinition } from "../definition/kind-definition.ts";
import { ipAddress } from "./ip-address.ts";
import { serviceCidr } from "./service-cidr.ts";

export const serviceRangeDefinitions: readonly KindDefinition[] = [serviceCidr, ipAddress];
