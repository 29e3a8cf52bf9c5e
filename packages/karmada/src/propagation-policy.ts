/** PropagationPolicy: propagates objects of its namespace to members and divides their replicas. */
import { POLICY_FINALIZER, POLICY_ID } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { PropagationPolicy as PropagationPolicyFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { policyKind } from "./policy-kind.ts";
import { policyAdmission } from "./policy-rules.ts";
import type { PolicyStatus } from "./policy-status.ts";

export interface PropagationPolicy extends PropagationPolicyFacts {
  status?: PolicyStatus;
}

export const PropagationPolicy: Kind<PropagationPolicy> = policyKind<PropagationPolicy>({
  kind: "PropagationPolicy",
  plural: "propagationpolicies",
  shortNames: ["pp"],
  scope: "Namespaced",
});

export const admissions: AnyAdmission[] = [
  policyAdmission(PropagationPolicy, {
    webhook: "propagationpolicy.karmada.io",
    id: POLICY_ID,
    finalizer: POLICY_FINALIZER,
  }),
];
