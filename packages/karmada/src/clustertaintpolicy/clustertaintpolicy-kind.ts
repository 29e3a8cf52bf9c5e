/** ClusterTaintPolicy: adds and removes taints of members according to their conditions. */
import { customKind } from "@flotilla/apimachinery";
import type { ClusterTaintPolicy as ClusterTaintPolicyFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { clusterTaintPolicyDescriptions } from "./clustertaintpolicy-descriptions.ts";

export type ClusterTaintPolicy = ClusterTaintPolicyFacts;

export const ClusterTaintPolicy: Kind<ClusterTaintPolicy> = customKind<ClusterTaintPolicy>({
  group: "policy.karmada.io",
  storageVersion: "v1alpha1",
  kind: "ClusterTaintPolicy",
  plural: "clustertaintpolicies",
  scope: "Cluster",
  facts: "clustertaintpolicies.policy.karmada.io",
  columns: [],
  descriptions: clusterTaintPolicyDescriptions,
});
