/** Dynamic resource allocation: devices, and the claims of pods to them. No device driver runs on simulated members; the kinds are stored and validated. */
import type { KindGroup } from "../optional-kinds.ts";
import { ResourceClaim, admissions as resourceClaim } from "./resource-claim.ts";
import { ResourceClaimTemplate, admissions as resourceClaimTemplate } from "./resource-claim-template.ts";
import { ResourceSlice, admissions as resourceSlice } from "./resource-slice.ts";
import { DeviceClass, admissions as deviceClass } from "./device-class.ts";

export const deviceKinds: KindGroup = {
  kinds: [ResourceClaim, ResourceClaimTemplate, ResourceSlice, DeviceClass],
  admissions: [...resourceClaim, ...resourceClaimTemplate, ...resourceSlice, ...deviceClass],
};
