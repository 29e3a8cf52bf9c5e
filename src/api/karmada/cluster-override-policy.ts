/** ClusterOverridePolicy: an OverridePolicy for every namespace; it comes before the namespace's own. */
import type { Admission, AnyAdmission } from "../admission.ts";
import { customKind } from "../define.ts";
import type { ClusterOverridePolicy as ClusterOverridePolicyFacts } from "../facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "../kind.ts";
import { checkOverridePolicy } from "./override-rules.ts";

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
  { for: ClusterOverridePolicy, on: ["CREATE", "UPDATE"], validate: ({ object }) => checkOverridePolicy(object) } satisfies Admission<ClusterOverridePolicy>,
];
