/**
 * The members as scheduling sees them: read from each Cluster once per change and shared by all bindings. A thousand
 * clusters cost a thousand lookups per cycle, not a thousand times parsing quantities and lists.
 */
import { readCapacity } from "../estimate/index.ts";
import { servedKey } from "./framework.ts";
import type { ClusterView, FleetCluster } from "./fleet-cluster.ts";

export interface Fleet {
  /** Sorted by name, so that no decision depends on list order. */
  readonly clusters: readonly FleetCluster[];
  /** Whether a cluster of this name exists and is not being removed. */
  isStaying(name: string): boolean;
}

/** Objects are never changed in place, so cached values stay valid for the lifetime of the object. */
const known = new WeakMap<ClusterView, FleetCluster>();

export function createFleet(clusters: readonly ClusterView[]): Fleet {
  return fleetOf(clusters.map(readCluster).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)));
}

function fleetOf(clusters: readonly FleetCluster[]): Fleet {
  let staying: ReadonlySet<string> | undefined;
  return {
    clusters,
    isStaying(name) {
      staying ??= new Set(clusters.flatMap((cluster) => (cluster.leaving ? [] : [cluster.name])));
      return staying.has(name);
    },
  };
}

/**
 * The fleet after one cluster was added, changed or removed: cheaper than reading and sorting all of them for every
 * heartbeat.
 */
export function updateFleet({ clusters }: Fleet, cluster: ClusterView, gone: boolean): Fleet {
  const { name } = cluster.metadata;
  let [low, high] = [0, clusters.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((clusters[middle] as FleetCluster).name < name) low = middle + 1;
    else high = middle;
  }
  const isKnown = clusters[low]?.name === name;
  return fleetOf(clusters.toSpliced(low, isKnown ? 1 : 0, ...(gone ? [] : [readCluster(cluster)])));
}

export function readCluster(cluster: ClusterView): FleetCluster {
  const before = known.get(cluster);
  if (before) return before;
  const { metadata, spec, status } = cluster;
  const read: FleetCluster = {
    metadata,
    spec,
    name: metadata.name,
    leaving: metadata.deletionTimestamp !== undefined,
    serves: servedKinds(status?.apiEnablements),
    capacity: readCapacity(cluster),
  };
  known.set(cluster, read);
  return read;
}

type Enablements = NonNullable<ClusterView["status"]>["apiEnablements"];

/** The list is long and seldom changes; after a heartbeat it is often the same object. */
const sets = new WeakMap<NonNullable<Enablements>, ReadonlySet<string>>();

/** As `groupVersion/kind`. */
export function servedKinds(enablements: Enablements): ReadonlySet<string> {
  if (!enablements) return NOTHING;
  const before = sets.get(enablements);
  if (before) return before;
  const kinds = new Set<string>();
  for (const { groupVersion, resources = [] } of enablements)
    for (const { kind } of resources) kinds.add(servedKey(groupVersion, kind));
  sets.set(enablements, kinds);
  return kinds;
}
const NOTHING: ReadonlySet<string> = new Set();
