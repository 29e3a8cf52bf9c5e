/**
 * ClusterOverridePolicy: an OverridePolicy for all namespaces; it is applied before those of the namespace. No Karmada
 * webhook defaults it.
 */
import { customKind } from "@flotilla/apimachinery";
import type { ClusterOverridePolicy as ClusterOverridePolicyFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { overrideDescriptions } from "../override/override-descriptions.ts";

export type ClusterOverridePolicy = ClusterOverridePolicyFacts;

export const ClusterOverridePolicy: Kind<ClusterOverridePolicy> = customKind<ClusterOverridePolicy>({
  group: "policy.karmada.io",
  storageVersion: "v1alpha1",
  kind: "ClusterOverridePolicy",
  plural: "clusteroverridepolicies",
  shortNames: ["cop"],
  categories: ["karmada-io"],
  scope: "Cluster",
  facts: "clusteroverridepolicies.policy.karmada.io",
  columns: [],
  descriptions: {
    ...overrideDescriptions,
    "": "Changes the copies of objects of any namespace, and of cluster-scoped objects, on some members.",
  },
});
