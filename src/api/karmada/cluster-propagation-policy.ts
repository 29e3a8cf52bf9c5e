/** ClusterPropagationPolicy: a PropagationPolicy for every namespace and for cluster-scoped objects. */
import type { Admission, AnyAdmission } from "../admission.ts";
import { AGE, customKind } from "../define.ts";
import type { ClusterPropagationPolicy as ClusterPropagationPolicyFacts } from "../facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "../kind.ts";
import { checkPolicy, completePolicy, CLUSTER_POLICY_ID } from "./policy-rules.ts";

export type ClusterPropagationPolicy = ClusterPropagationPolicyFacts;

export const ClusterPropagationPolicy: Kind<ClusterPropagationPolicy> = customKind<ClusterPropagationPolicy>({
  group: "policy.karmada.io",
  storageVersion: "v1alpha1",
  kind: "ClusterPropagationPolicy",
  plural: "clusterpropagationpolicies",
  shortNames: ["cpp"],
  categories: ["karmada-io"],
  scope: "Cluster",
  facts: "clusterpropagationpolicies.policy.karmada.io",
  columns: [
    { name: "CONFLICT-RESOLUTION", type: "string", jsonPath: ".spec.conflictResolution" },
    { name: "PRIORITY", type: "string", jsonPath: ".spec.priority" },
    AGE,
  ],
});

export const admissions: AnyAdmission[] = [
  {
    for: ClusterPropagationPolicy,
    on: ["CREATE", "UPDATE"],
    mutate: (review) => completePolicy(review, CLUSTER_POLICY_ID),
    validate: (review) => checkPolicy(review, CLUSTER_POLICY_ID),
  } satisfies Admission<ClusterPropagationPolicy>,
];
