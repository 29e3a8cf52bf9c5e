/**
 * Which member clusters an affinity selects: by name, by label, by provider, region and zone. Shared by placements,
 * static weights and override rules.
 */
import type { ClusterAffinity as ApiClusterAffinity } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { ClusterSpec } from "@flotilla/apimachinery/facts/cluster-karmada-v1alpha1.ts";
import type { ObjectMeta } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { compileLabelSelector } from "./label-selector.ts";

/** Every criterion that is set must match; an empty affinity matches every cluster. */
export type ClusterAffinity = DeepReadonly<ApiClusterAffinity>;
type FieldRequirement = NonNullable<NonNullable<ClusterAffinity["fieldSelector"]>["matchExpressions"]>[number];

/** The fields of a Cluster that an affinity reads. */
export type ClusterFacts = DeepReadonly<{
  metadata: Pick<ObjectMeta, "name" | "labels">;
  spec?: Pick<ClusterSpec, "provider" | "region" | "zones">;
}>;

/**
 * An affinity compiled for many clusters: names become sets, so a scheduling cycle costs O(clusters), not clusters
 * times names.
 */
export function compileAffinity(affinity: ClusterAffinity): (cluster: ClusterFacts) => boolean {
  const excluded = new Set(affinity.exclude);
  const named = affinity.clusterNames?.length ? new Set(affinity.clusterNames) : undefined;
  const hasLabels = affinity.labelSelector && compileLabelSelector(affinity.labelSelector);
  const fields = affinity.fieldSelector?.matchExpressions ?? [];
  return (cluster) => {
    const { name, labels } = cluster.metadata;
    if (excluded.has(name) || (named && !named.has(name))) return false;
    if (hasLabels && !hasLabels(labels)) return false;
    return fields.every((requirement) => matchesField(requirement, fieldValues(cluster, requirement.key)));
  };
}

export function matchesAffinity(cluster: ClusterFacts, affinity: ClusterAffinity): boolean {
  return compileAffinity(affinity)(cluster);
}

/** A cluster has at most one provider and region, and any number of zones. Admission allows no other key. */
function fieldValues({ spec }: ClusterFacts, key: string): readonly string[] {
  if (key === "provider") return spec?.provider ? [spec.provider] : [];
  if (key === "region") return spec?.region ? [spec.region] : [];
  if (key === "zone") return spec?.zones ?? [];
  return [];
}

/** `In` requires an overlap, `NotIn` none; an operator unknown to admission matches nothing. */
function matchesField({ operator, values = [] }: FieldRequirement, present: readonly string[]): boolean {
  switch (operator) {
    case "In":
      return present.some((value) => values.includes(value));
    case "NotIn":
      return !present.some((value) => values.includes(value));
    case "Exists":
      return present.length > 0;
    case "DoesNotExist":
      return present.length === 0;
    default:
      return false;
  }
}
