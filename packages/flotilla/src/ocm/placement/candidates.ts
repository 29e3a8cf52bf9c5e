/** The candidate clusters of a Placement: members of the sets that its namespace is bound to. */
import { CLUSTER_SET_LABEL } from "@flotilla/ocm";
import type { ManagedCluster, ManagedClusterSet, OcmPlacement } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";

type Cluster = DeepReadonly<ManagedCluster>;

/** The sets of a Placement, sorted by name: the bound sets, limited to those it names. */
export function eligibleSets({ spec }: DeepReadonly<OcmPlacement>, bound: Iterable<string>): string[] {
  const named = spec.clusterSets ?? [];
  return [...new Set(bound)].filter((name) => named.length === 0 || named.includes(name)).toSorted();
}

/**
 * Whether a cluster is a member of a set. A set without a selector type is exclusive, and a label selector set without
 * labels has no members.
 */
export function membershipTest(set: DeepReadonly<ManagedClusterSet>): (cluster: Cluster) => boolean {
  const { selectorType = "ExclusiveClusterSetLabel", labelSelector } = set.spec.clusterSelector ?? {};
  if (selectorType === "ExclusiveClusterSetLabel")
    return ({ metadata }) => metadata.labels?.[CLUSTER_SET_LABEL] === set.metadata.name;
  const selector = labelSelectorOf(labelSelector);
  return ({ metadata }) => matchesLabels(selector, metadata.labels);
}

/** Members of any of the sets, without clusters that are being deleted, sorted by name. */
export function availableClusters(
  sets: readonly DeepReadonly<ManagedClusterSet>[],
  clusters: Iterable<Cluster>,
): Cluster[] {
  const tests = sets.map(membershipTest);
  const found = [...clusters].filter(
    (cluster) => cluster.metadata.deletionTimestamp === undefined && tests.some((isMember) => isMember(cluster)),
  );
  return found.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}
