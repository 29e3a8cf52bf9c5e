/** ResourceClaim: defaults and validation, loaded when the first object is written. */
import { builtInAdmission, change, checkUnchanged } from "@flotilla/apimachinery";
import { checkClaimSpec, completeClaimSpec } from "./claim-spec.ts";
import { checkClaimStatus, completeClaimStatus } from "./claim-status.ts";
import { ResourceClaim } from "./resource-claim.ts";

export const resourceClaimRules = builtInAdmission(ResourceClaim, "resource-v1", {
  complete: (claim) => change(claim, "spec", completeClaimSpec),
  completeStatus: completeClaimStatus,
  // The spec of a claim is immutable, so a stored one is not validated again.
  validate: ({ object: { spec }, oldObject }) =>
    oldObject ? checkUnchanged("spec", spec, oldObject.spec) : checkClaimSpec("spec", spec),
  validateStatus: ({ object, oldObject }) => checkClaimStatus(object, oldObject),
});
