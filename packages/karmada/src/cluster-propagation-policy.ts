/** ClusterPropagationPolicy: a PropagationPolicy for all namespaces and for cluster-scoped objects. */
import { CLUSTER_POLICY_FINALIZER, CLUSTER_POLICY_ID } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { ClusterPropagationPolicy as ClusterPropagationPolicyFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { policyKind } from "./policy-kind.ts";
import { policyAdmission } from "./policy-rules.ts";
import type { PolicyStatus } from "./policy-status.ts";

export interface ClusterPropagationPolicy extends ClusterPropagationPolicyFacts {
  status?: PolicyStatus;
}

export const ClusterPropagationPolicy: Kind<ClusterPropagationPolicy> = policyKind<ClusterPropagationPolicy>({
  kind: "ClusterPropagationPolicy",
  plural: "clusterpropagationpolicies",
  shortNames: ["cpp"],
  scope: "Cluster",
});

export const admissions: AnyAdmission[] = [
  policyAdmission(ClusterPropagationPolicy, {
    webhook: "clusterpropagationpolicy.karmada.io",
    id: CLUSTER_POLICY_ID,
    finalizer: CLUSTER_POLICY_FINALIZER,
  }),
];
