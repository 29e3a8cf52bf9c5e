/** PropagationPolicy: which objects of its namespace go to which members, and how replicas are divided. */
import type { Admission, AnyAdmission } from "../admission.ts";
import { AGE, customKind } from "../define.ts";
import type { PropagationPolicy as PropagationPolicyFacts } from "../facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "../kind.ts";
import { checkPolicy, completePolicy, POLICY_ID } from "./policy-rules.ts";

export type PropagationPolicy = PropagationPolicyFacts;

export const PropagationPolicy: Kind<PropagationPolicy> = customKind<PropagationPolicy>({
  group: "policy.karmada.io",
  storageVersion: "v1alpha1",
  kind: "PropagationPolicy",
  plural: "propagationpolicies",
  shortNames: ["pp"],
  categories: ["karmada-io"],
  scope: "Namespaced",
  facts: "propagationpolicies.policy.karmada.io",
  columns: [
    { name: "CONFLICT-RESOLUTION", type: "string", jsonPath: ".spec.conflictResolution" },
    { name: "PRIORITY", type: "string", jsonPath: ".spec.priority" },
    AGE,
  ],
});

export const admissions: AnyAdmission[] = [
  {
    for: PropagationPolicy,
    on: ["CREATE", "UPDATE"],
    mutate: (review) => completePolicy(review, POLICY_ID),
    validate: (review) => checkPolicy(review, POLICY_ID),
  } satisfies Admission<PropagationPolicy>,
];
