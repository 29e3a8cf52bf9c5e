/** Which objects depend on which owners: an index from owner uid to the keys of its dependents. */
import type { OwnerReference } from "@flotilla/apimachinery";
import { clusterOfKey } from "../resources/resources.ts";

/**
 * Owners that were deleted recently, for dependents whose writes were in flight: as many as controllers could be
 * creating dependents for at a time.
 */
const MAX_RECENTLY_DELETED = 1024;

const inCluster = (cluster: string, uid: string): string => `${cluster}/${uid}`;

const NO_OWNERS: readonly OwnerReference[] = [];

export interface OwnerIndex {
  /** The owners of a dependent; empty if it has none. */
  ownersOf(key: string): readonly OwnerReference[];
  /** Keys of the dependents of an owner, in every cluster. */
  dependentsOf(uid: string): Iterable<string>;
  hasDependents(uid: string): boolean;
  dependents(): Iterable<[key: string, owners: readonly OwnerReference[]]>;
  /** Replaces the owners of a dependent. */
  set(key: string, owners: readonly OwnerReference[]): void;
  remove(key: string): void;
  /** The owner with this key was deleted. */
  noteDeleted(key: string, uid: string): void;
  /** Whether the deletion of this owner was observed in this cluster: another cluster says nothing about its owners. */
  wasDeleted(cluster: string, uid: string): boolean;
  /** An owner that another server stores is deleted after its dependents in this cluster. */
  noteWaiting(cluster: string, uid: string): void;
  isWaiting(cluster: string, uid: string): boolean;
}

export function createOwnerIndex(): OwnerIndex {
  /** Keys of dependents by owner uid. */
  const dependents = new Map<string, Set<string>>();
  const known = new Map<string, readonly OwnerReference[]>();
  /**
   * Clusters and uids of owners whose deletion was observed: they are absent even when their kind is no longer served. Owners with
   * dependents stay here until the dependents are processed; the others are soon dropped.
   */
  const deletedOwners = new Set<string>();
  const recentlyDeletedOwners = new Set<string>();
  const waitingOwners = new Set<string>();

  const remove = (key: string): void => {
    const owners = known.get(key);
    if (!owners) return;
    known.delete(key);
    for (const { uid } of owners) {
      const keys = dependents.get(uid);
      keys?.delete(key);
      if (keys?.size !== 0) continue;
      dependents.delete(uid);
      deletedOwners.delete(inCluster(clusterOfKey(key), uid));
      waitingOwners.delete(inCluster(clusterOfKey(key), uid));
    }
  };

  return {
    ownersOf: (key) => known.get(key) ?? NO_OWNERS,
    dependentsOf: (uid) => dependents.get(uid) ?? [],
    hasDependents: (uid) => dependents.has(uid),
    dependents: () => known,
    set(key, owners) {
      remove(key);
      if (owners.length === 0) return;
      known.set(key, owners);
      for (const { uid } of owners) {
        const keys = dependents.get(uid) ?? new Set();
        dependents.set(uid, keys.add(key));
      }
    },
    remove,
    noteDeleted(key, uid) {
      const id = inCluster(clusterOfKey(key), uid);
      if (dependents.has(uid)) deletedOwners.add(id);
      // Only kinds defined by CRDs can be removed, and their groups contain a dot.
      if (!key.slice(1, key.indexOf("/", 1)).includes(".")) return;
      recentlyDeletedOwners.add(id);
      const [oldest = ""] = recentlyDeletedOwners;
      if (recentlyDeletedOwners.size > MAX_RECENTLY_DELETED) recentlyDeletedOwners.delete(oldest);
    },
    noteWaiting(cluster, uid) {
      if (dependents.has(uid)) waitingOwners.add(inCluster(cluster, uid));
    },
    isWaiting: (cluster, uid) => waitingOwners.has(inCluster(cluster, uid)),
    wasDeleted(cluster, uid) {
      const id = inCluster(cluster, uid);
      return deletedOwners.has(id) || recentlyDeletedOwners.has(id);
    },
  };
}
