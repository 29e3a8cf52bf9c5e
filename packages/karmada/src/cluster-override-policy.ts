/**
 * ClusterOverridePolicy: an OverridePolicy for all namespaces; it is applied before those of the namespace. No Karmada
 * webhook defaults it.
 */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { customKind } from "@flotilla/apimachinery";
import type { ClusterOverridePolicy as ClusterOverridePolicyFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { checkOverridePolicy, overrideWarnings } from "./override-rules.ts";
import { karmadaAdmission } from "./webhook.ts";

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
});

export const admissions: AnyAdmission[] = [
  karmadaAdmission(ClusterOverridePolicy, {
    name: "clusteroverridepolicy.karmada.io",
    check: ({ object }) => checkOverridePolicy(object),
    warnings: ({ object }) => overrideWarnings(object),
  }),
];
