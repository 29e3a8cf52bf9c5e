/** PropagationPolicy: propagates objects of its namespace to members and divides their replicas. */
import type { PropagationPolicy as PropagationPolicyFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { policyKind } from "../policy/policy-kind.ts";
import type { PolicyStatus } from "../policy/policy-status.ts";
import { policyDescriptions } from "../policy/policy-descriptions.ts";

export interface PropagationPolicy extends PropagationPolicyFacts {
  status?: PolicyStatus;
}

export const PropagationPolicy: Kind<PropagationPolicy> = policyKind<PropagationPolicy>({
  kind: "PropagationPolicy",
  plural: "propagationpolicies",
  shortNames: ["pp"],
  scope: "Namespaced",
  descriptions: {
    ...policyDescriptions,
    "": "Which objects of its namespace are propagated to which members, and how replicas are divided.",
  },
});
