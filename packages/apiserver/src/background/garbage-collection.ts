/**
 * Garbage collection: deletes the dependents of deleted owners. An index from owner uid to the keys of its dependents
 * is maintained from the store's events, so the cost of a deletion depends only on its own dependents.
 *
 * Background deletion removes dependents whose owners have all been deleted. Foreground deletion (a finalizer on the
 * owner) first removes the dependents that block it. Orphaning (another finalizer) removes the owner references from
 * the dependents.
 */
import { gvkOf } from "@flotilla/apimachinery";
import type { OwnerReference } from "@flotilla/apimachinery";
import type { CachedEntry, CacheEvent } from "../store/cache.ts";
import { concurrently } from "../write/concurrently.ts";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../write/delete.ts";
import type { Housekeeping } from "./housekeeping.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { isMarker } from "../clusters/objects.ts";
import { createOwnerIndex } from "./owner-index.ts";
import { createOwnerStates } from "./owner-state.ts";
import type { OwnerState } from "./owner-state.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import { isWaiting, ownersOf, ownershipIn, propagationOf, uidOf } from "./ownership.ts";
import { clusterOfKey } from "../resources/resources.ts";
import { textOf } from "../codec/text.ts";

export interface GarbageCollector {
  /** Loads all entries when the server starts, or those of a cluster whose own controller manager stopped. */
  load(entries: Iterable<CachedEntry>): void;
  observe(event: CacheEvent): void;
  /**
   * Deletes every dependent of a kind's objects that has no other owner; resolves when that is durable. Only then may
   * the kind be removed: after a restart the server could no longer know that the owners were deleted.
   */
  settleDependentsOf(cluster: string, kind: { group: string; kind: string }): Promise<void>;
  /** Owners in these groups of the dependents in a cluster, by uid. */
  foreignOwners(cluster: string, groups: ReadonlySet<string>): ReadonlyMap<string, ForeignOwner>;
  /** An owner that is stored elsewhere no longer exists: settles its dependents. */
  ownerGone(cluster: string, uid: string): void;
  /** The state of an owner of an object that is stored elsewhere. */
  ownerStateOf(cluster: string, dependent: ForeignDependent, owner: OwnerReference): OwnerState;
  /** Whether an object is the owner of stored ones. */
  hasDependents(uid: string): boolean;
  /** Removes an owner that is stored elsewhere from its dependents. */
  orphanDependentsOf(cluster: string, uid: string): Promise<void>;
  /**
   * An owner that is stored elsewhere is deleted after its dependents: deletes them. Resolves with whether some remain that block
   * it.
   */
  ownerWaits(cluster: string, uid: string): Promise<boolean>;
}

export interface ForeignOwner {
  owner: OwnerReference;
  /** The namespace of a dependent; unset if it has none. */
  namespace: string | undefined;
}

interface ForeignDependent {
  isNamespaced: boolean;
  namespace: string | undefined;
}

export interface GarbageCollectorDependencies {
  housekeeping: Housekeeping;
  clusters: Pick<ClusterRegistry, "get">;
  /** Removes an owner from its dependents on other servers, before it is deleted without them; undefined where there are none. */
  orphaningElsewhere(cluster: string): ((uid: string) => Promise<void>) | undefined;
}

export function createGarbageCollector({
  housekeeping,
  clusters,
  orphaningElsewhere,
}: GarbageCollectorDependencies): GarbageCollector {
  const index = createOwnerIndex();
  const stateOf = createOwnerStates(housekeeping, index);
  /** Owners that wait for the deletion or orphaning of their dependents, by uid. */
  const waiting = new Map<string, string>();

  const indexOwners = (key: string, owners: OwnerReference[]): void => {
    // A waiting owner may have been waiting for this change.
    if (waiting.size > 0) for (const { uid } of index.ownersOf(key)) enqueueWaitingOwner(uid);
    index.set(key, owners);
  };
  /** Owners may be waiting for the deletion of this dependent. */
  const forget = (key: string): void => {
    const owners = index.ownersOf(key);
    index.remove(key);
    for (const { uid } of owners) enqueueWaitingOwner(uid);
  };

  const enqueueWaitingOwner = (uid: string): void => {
    const owner = waiting.get(uid);
    if (owner !== undefined) enqueueOwner(owner);
  };
  const enqueueWork = (what: "owner" | "dependent", key: string, settle: (key: string) => Promise<void>): void => {
    if (!housekeeping.isManagedElsewhere(key)) housekeeping.enqueue(`${what} ${key}`, () => settle(key));
  };
  const enqueueOwner = (key: string): void => enqueueWork("owner", key, settleOwner);
  const enqueueDependent = (key: string): void => enqueueWork("dependent", key, settleDependent);

  const observeEntry = (entry: CachedEntry, isNew: boolean): void => {
    const { owners, mayWait } = ownershipIn(entry);
    if (owners.length > 0 || index.ownersOf(entry.key).length > 0) indexOwners(entry.key, owners);
    // The owner may have been deleted between the decision to create this object and now.
    if (isNew && owners.length > 0 && hasLostOwner(entry.key, owners)) enqueueDependent(entry.key);
    if (mayWait) enqueueOwner(entry.key);
  };

  const hasLostOwner = (key: string, owners: readonly OwnerReference[]): boolean => {
    const place = housekeeping.locate(key);
    return place !== undefined && owners.some((owner) => stateOf(place, owner) !== "solid");
  };

  /** Deletes a dependent without remaining owners; otherwise removes the references to absent owners. */
  const settleDependent = async (key: string): Promise<void> => {
    const found = housekeeping.find(key);
    if (!found) return;
    const metadata = metadataOf(found.object);
    const owners = ownersOf(found.object);
    if (owners.length === 0 || metadata.deletionTimestamp !== undefined) return;
    const states = owners.map((owner) => stateOf(found, owner));
    const solid = new Set(owners.filter((_, at) => states[at] === "solid").map(({ uid }) => uid));
    if (solid.size === owners.length) return;
    if (solid.size > 0)
      return housekeeping.setOwners(key, (references) => references.filter(({ uid }) => solid.has(uid)));
    const uid = textOf(metadata.uid);
    if (states.includes("waiting") && index.hasDependents(uid)) {
      // Objects that own each other would wait for each other forever.
      if (isPartOfCycle(key, uid))
        await housekeeping.setOwners(key, (references) =>
          references.map((reference) => ({ ...reference, blockOwnerDeletion: false })),
        );
      return housekeeping.remove(key, uid, "Foreground");
    }
    return housekeeping.remove(key, uid, propagationOf(finalizersOf(metadata)));
  };

  const isPartOfCycle = (key: string, uid: string): boolean =>
    dependentsOf(key, uid).some((dependent) => {
      const found = housekeeping.find(dependent);
      return found !== undefined && isWaiting(metadataOf(found.object));
    });

  const dependentsIn = (cluster: string, uid: string): string[] =>
    [...index.dependentsOf(uid)].filter((dependent) => clusterOfKey(dependent) === cluster);
  const dependentsOf = (key: string, uid: string): string[] => dependentsIn(clusterOfKey(key), uid);

  /** Does what the owner's finalizer requires, and removes the finalizer when nothing is left to do. */
  const settleOwner = async (key: string): Promise<void> => {
    const found = housekeeping.find(key);
    if (!found) return;
    const metadata = metadataOf(found.object);
    const finalizers = finalizersOf(metadata);
    const uid = textOf(metadata.uid);
    if (metadata.deletionTimestamp === undefined) return;
    waiting.set(uid, key);
    if (finalizers.includes(ORPHAN_FINALIZER)) {
      for (const dependent of dependentsOf(key, uid))
        await housekeeping.setOwners(dependent, (references) => references.filter((owner) => owner.uid !== uid));
      waiting.delete(uid);
      const orphanElsewhere = orphaningElsewhere(clusterOfKey(key));
      if (!orphanElsewhere) return housekeeping.removeFinalizer(key, ORPHAN_FINALIZER);
      // Other servers may be slow, and must not take the places of other clusters.
      return housekeeping.enqueue(
        `dependents of ${key} on other servers`,
        async () => {
          await orphanElsewhere(uid);
          await housekeeping.removeFinalizer(key, ORPHAN_FINALIZER);
        },
        clusterOfKey(key),
      );
    }
    if (!finalizers.includes(FOREGROUND_FINALIZER)) return void waiting.delete(uid);
    for (const dependent of dependentsOf(key, uid)) await settleDependent(dependent);
    // The remaining blocking dependents wait for their own finalizers; their deletion enqueues this owner again.
    if (dependentsOf(key, uid).some((dependent) => blocks(dependent, uid))) return;
    waiting.delete(uid);
    return housekeeping.removeFinalizer(key, FOREGROUND_FINALIZER);
  };

  const blocks = (key: string, uid: string): boolean => {
    const found = housekeeping.find(key);
    return (
      found !== undefined &&
      ownersOf(found.object).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true)
    );
  };

  return {
    load(entries) {
      for (const entry of entries) if (!isMarker(entry)) observeEntry(entry, true);
    },
    observe({ entry, previous }) {
      const now = entry && !isMarker(entry) ? entry : undefined;
      if (now) observeEntry(now, previous === undefined || isMarker(previous));
      else forget((entry ?? previous)?.key ?? "");
      const uid = previous && !isMarker(previous) && !now ? uidOf(previous) : undefined;
      if (uid === undefined) return;
      waiting.delete(uid);
      index.noteDeleted(previous?.key ?? "", uid);
      for (const key of index.dependentsOf(uid)) enqueueDependent(key);
    },
    async settleDependentsOf(cluster, { group, kind }) {
      const isOfKind = (owner: OwnerReference): boolean => owner.kind === kind && gvkOf(owner).group === group;
      const concerned = [...index.dependents()].flatMap(([key, owners]) =>
        clusterOfKey(key) === cluster && !housekeeping.isManagedElsewhere(key) && owners.some(isOfKind) ? [key] : [],
      );
      await concurrently(concerned, housekeeping.signal, settleDependent);
    },
    foreignOwners(cluster, groups) {
      const found = new Map<string, ForeignOwner>();
      for (const [key, owners] of index.dependents())
        for (const owner of owners)
          if (
            !found.has(owner.uid) &&
            groups.has(gvkOf(owner).group) &&
            clusterOfKey(key) === cluster &&
            !housekeeping.isManagedElsewhere(key)
          )
            found.set(owner.uid, { owner, namespace: housekeeping.locate(key)?.namespace });
      return found;
    },
    ownerStateOf(cluster, { isNamespaced, namespace }, owner) {
      const found = clusters.get(cluster);
      return found ? stateOf({ cluster: found, resource: { namespaced: isNamespaced }, namespace }, owner) : "solid";
    },
    hasDependents: (uid) => index.hasDependents(uid),
    async orphanDependentsOf(cluster, uid) {
      for (const dependent of dependentsIn(cluster, uid))
        await housekeeping.setOwners(dependent, (references) => references.filter((owner) => owner.uid !== uid));
    },
    async ownerWaits(cluster, uid) {
      index.noteWaiting(cluster, uid);
      for (const dependent of dependentsIn(cluster, uid)) await settleDependent(dependent);
      return dependentsIn(cluster, uid).some((dependent) => blocks(dependent, uid));
    },
    ownerGone(cluster, uid) {
      for (const key of index.dependentsOf(uid)) {
        if (clusterOfKey(key) !== cluster) continue;
        index.noteDeleted(key, uid);
        enqueueDependent(key);
      }
    },
  };
}
