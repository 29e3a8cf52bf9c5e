/** The rules of policies for PropagationPolicy. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { policyAdmission } from "../policy/policy-rules.ts";
import { PropagationPolicy } from "./propagationpolicy-kind.ts";
import { POLICY_FINALIZER, POLICY_ID } from "../names/karmada-names.ts";

export const propagationPolicyRules: readonly AnyAdmission[] = [
  policyAdmission(PropagationPolicy, {
    webhook: "propagationpolicy.karmada.io",
    id: POLICY_ID,
    finalizer: POLICY_FINALIZER,
  }),
];
