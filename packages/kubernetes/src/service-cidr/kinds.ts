/** The ranges of Service addresses, and the addresses that Services hold. */
import type { KindGroup } from "../optional-kinds.ts";
import { ServiceCIDR, admissions as serviceCidr } from "./service-cidr.ts";
import { IPAddress, admissions as ipAddress } from "./ip-address.ts";

export const serviceRangeKinds: KindGroup = {
  kinds: [ServiceCIDR, IPAddress],
  admissions: [...serviceCidr, ...ipAddress],
};
