/** Dynamic resource allocation: devices, and the claims of pods to them. No device driver runs on simulated members; the kinds are stored and validated. */
import type { KindDefinition } from "../definition/kind-definition.ts";
import { deviceClass } from "./device-class.ts";
import { resourceClaim } from "./resource-claim.ts";
import { resourceClaimTemplate } from "./resource-claim-template.ts";
import { resourceSlice } from "./resource-slice.ts";

export const deviceDefinitions: readonly KindDefinition[] = [
  resourceClaim,
  resourceClaimTemplate,
  resourceSlice,
  deviceClass,
];
