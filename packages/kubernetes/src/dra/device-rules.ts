/** The rules of devices and claims: loaded together when the first of their objects is written. */
export { deviceClassRules } from "./device-class-rules.ts";
export { resourceClaimRules } from "./resource-claim-rules.ts";
export { resourceClaimTemplateRules } from "./resource-claim-template-rules.ts";
export { resourceSliceRules } from "./resource-slice-rules.ts";
