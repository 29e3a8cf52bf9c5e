/**
 * Which member clusters an affinity means: by name, by label, by provider, region and zone. Placements, static weights
 * and override rules all speak it, so it stands beside the stages.
 */
import type { ClusterAffinity as ApiClusterAffinity, ClusterSpec, ObjectMeta } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { compileLabelSelector } from "./label-selector.ts";

/** Every part that is set must match; an affinity without parts matches every cluster. */
export type ClusterAffinity = DeepReadonly<ApiClusterAffinity>;
type FieldRequirement = NonNullable<NonNullable<ClusterAffinity["fieldSelector"]>["matchExpressions"]>[number];

/** What an affinity reads of a Cluster. */
export type ClusterFacts = DeepReadonly<{
  metadata: Pick<ObjectMeta, "name" | "labels">;
  spec?: Pick<ClusterSpec, "provider" | "region" | "zones">;
}>;

/**
 * An affinity made ready for many clusters: names become sets, so a cycle costs the clusters and not clusters times
 * names.
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

/** A cluster has at most one provider and region, and any number of zones. Admission knows no other key. */
function fieldValues({ spec }: ClusterFacts, key: string): readonly string[] {
  if (key === "provider") return spec?.provider ? [spec.provider] : [];
  if (key === "region") return spec?.region ? [spec.region] : [];
  if (key === "zone") return spec?.zones ?? [];
  return [];
}

/** `In` asks for an overlap, `NotIn` for none; an operator that admission does not know matches nothing. */
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
