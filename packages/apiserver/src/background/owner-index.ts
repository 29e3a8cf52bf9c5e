/** Which objects depend on which owners: an index from owner uid to the keys of its dependents. */
import type { OwnerReference } from "@flotilla/apimachinery";
import { clusterOfKey } from "../resources/resources.ts";
import { refersTo } from "./ownership.ts";
import type { ForeignOwner } from "./ownership.ts";

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
  noteWaiting(cluster: string, owner: ForeignOwner): void;
  /** Whether a reference of an object in this cluster and namespace is to such an owner. */
  isWaiting(cluster: string, reference: OwnerReference, namespace: string | undefined): boolean;
}

export function createOwnerIndex(): OwnerIndex {
  /** Keys of dependents by owner uid. */
  const dependents = new Map<string, Set<string>>();
  const known = new Map<string, readonly OwnerReference[]>();
  /**
   * Owners whose deletion was observed, with the clusters: they are absent even when their kind is no longer served. Owners with
   * dependents stay here until the dependents are processed; the others are soon dropped.
   */
  const deletedOwners = new Map<string, Set<string>>();
  const recentlyDeletedOwners = new Set<string>();
  const waitingOwners = new Map<string, Map<string, ForeignOwner>>();

  const forgetDependent = (key: string, uid: string): void => {
    const keys = dependents.get(uid);
    keys?.delete(key);
    if (keys?.size !== 0) return;
    dependents.delete(uid);
    deletedOwners.delete(uid);
    waitingOwners.delete(uid);
  };
  const set = (key: string, owners: readonly OwnerReference[]): void => {
    const former = known.get(key) ?? NO_OWNERS;
    if (owners.length === 0) known.delete(key);
    else known.set(key, owners);
    for (const { uid } of owners) {
      const keys = dependents.get(uid) ?? new Set();
      dependents.set(uid, keys.add(key));
    }
    // What is known of an owner stays while it has the same dependent.
    for (const { uid } of former) if (!owners.some((owner) => owner.uid === uid)) forgetDependent(key, uid);
  };

  return {
    ownersOf: (key) => known.get(key) ?? NO_OWNERS,
    dependentsOf: (uid) => dependents.get(uid) ?? [],
    hasDependents: (uid) => dependents.has(uid),
    dependents: () => known,
    set,
    remove: (key) => set(key, NO_OWNERS),
    noteDeleted(key, uid) {
      const cluster = clusterOfKey(key);
      if (dependents.has(uid)) deletedOwners.set(uid, (deletedOwners.get(uid) ?? new Set()).add(cluster));
      // Only kinds defined by CRDs can be removed, and their groups contain a dot.
      if (!key.slice(1, key.indexOf("/", 1)).includes(".")) return;
      recentlyDeletedOwners.add(inCluster(cluster, uid));
      const [oldest = ""] = recentlyDeletedOwners;
      if (recentlyDeletedOwners.size > MAX_RECENTLY_DELETED) recentlyDeletedOwners.delete(oldest);
    },
    noteWaiting(cluster, owner) {
      const { uid } = owner;
      if (dependents.has(uid)) waitingOwners.set(uid, (waitingOwners.get(uid) ?? new Map()).set(cluster, owner));
    },
    isWaiting(cluster, reference, namespace) {
      const owner = waitingOwners.get(reference.uid)?.get(cluster);
      return owner !== undefined && refersTo(reference, namespace, owner);
    },
    wasDeleted: (cluster, uid) =>
      deletedOwners.get(uid)?.has(cluster) === true || recentlyDeletedOwners.has(inCluster(cluster, uid)),
  };
}
