/** ClusterPropagationPolicy: a PropagationPolicy for all namespaces and for cluster-scoped objects. */
import type { ClusterPropagationPolicy as ClusterPropagationPolicyFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { policyKind } from "../policy/policy-kind.ts";
import type { PolicyStatus } from "../policy/policy-status.ts";
import { policyDescriptions } from "../policy/policy-descriptions.ts";

export interface ClusterPropagationPolicy extends ClusterPropagationPolicyFacts {
  status?: PolicyStatus;
}

export const ClusterPropagationPolicy: Kind<ClusterPropagationPolicy> = policyKind<ClusterPropagationPolicy>({
  kind: "ClusterPropagationPolicy",
  plural: "clusterpropagationpolicies",
  shortNames: ["cpp"],
  scope: "Cluster",
  descriptions: {
    ...policyDescriptions,
    "": "Which objects of any namespace, and which cluster-scoped objects, are propagated to which members, and how replicas are divided.",
  },
});
