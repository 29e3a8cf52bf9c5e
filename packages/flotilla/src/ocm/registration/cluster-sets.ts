/**
 * Cluster set membership, updated incrementally: a set of a thousand clusters is not recounted for each new cluster.
 */
import type { ManagedCluster, ManagedClusterSet } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { equalJson } from "@flotilla/base";
import { ApiError } from "@flotilla/apimachinery";
import type { Informer, ObjectEvent } from "@flotilla/controller-runtime";
import { membershipTest } from "../placement/candidates.ts";
import type { Read } from "../cluster-conditions.ts";

type ClusterSet = DeepReadonly<ManagedClusterSet>;

export interface ClusterSets {
  /** The sets that a cluster belongs to. */
  of(cluster: Read): ClusterSet[];
  members(set: string): ReadonlySet<string>;
  /** The sets that gain or lose the cluster through this change. */
  touched(event: ObjectEvent<ManagedCluster>): string[];
  /** The number of clusters. */
  count(): number;
}

const NO_CLUSTERS: ReadonlySet<string> = new Set();

export function createClusterSets({
  hub,
  sets,
  clusters,
}: {
  hub: string;
  sets: Informer<ManagedClusterSet>;
  clusters: Informer<ManagedCluster>;
}): ClusterSets {
  const members = new Map<string, Set<string>>();
  const names = new Set<string>();

  sets.subscribe(({ object, old, deleted }) => {
    const { name } = object.metadata;
    if (deleted) members.delete(name);
    else if (!old || !equalJson(old.spec, object.spec))
      members.set(
        name,
        new Set(
          clusters
            .list({ cluster: hub })
            .filter((cluster) => isIn(object, cluster))
            .map(({ metadata }) => metadata.name),
        ),
      );
  });
  clusters.subscribe(({ object, deleted }) => {
    const { name } = object.metadata;
    if (deleted) names.delete(name);
    else names.add(name);
    for (const set of sets.list({ cluster: hub })) {
      const present = members.get(set.metadata.name);
      if (!deleted && isIn(set, object)) present?.add(name);
      else present?.delete(name);
    }
  });

  return {
    of: (cluster) => sets.list({ cluster: hub }).filter((set) => isIn(set, cluster)),
    members: (set) => members.get(set) ?? NO_CLUSTERS,
    touched: ({ object, old, deleted }) =>
      sets
        .list({ cluster: hub })
        .flatMap((set) =>
          (old !== undefined && isIn(set, old)) !== (!deleted && isIn(set, object)) || (deleted && isIn(set, object))
            ? [set.metadata.name]
            : [],
        ),
    count: () => names.size,
  };
}

const tests = new WeakMap<ClusterSet, (cluster: Read) => boolean>();

function isIn(set: ClusterSet, cluster: Read): boolean {
  let test = tests.get(set);
  if (!test) tests.set(set, (test = testOf(set)));
  return test(cluster);
}

/** An invalid selector selects nothing. */
function testOf(set: ClusterSet): (cluster: Read) => boolean {
  try {
    return membershipTest(set);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return () => false;
  }
}
