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
import { createOrphanedOwners } from "./orphaned-owners.ts";
import type { OrphaningElsewhere } from "./orphaned-owners.ts";
import { createOwnerIndex } from "./owner-index.ts";
import { createOwnerStates } from "./owner-state.ts";
import type { OwnerState } from "./owner-state.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import { isSameReference, isWaiting, ownersOf, ownershipIn, propagationOf, refersTo, uidOf } from "./ownership.ts";
import type { ForeignOwner } from "./ownership.ts";
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
  /** The references from the dependents in a cluster to owners of which `ownerOf` says that another server may store them. */
  foreignReferences(cluster: string, ownerOf: OwnerOf): Iterable<ForeignReference>;
  /** Settles a dependent of owners that other servers no longer have. */
  settleWithout(key: string, isGone: (reference: OwnerReference) => boolean): void;
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
  ownerWaits(cluster: string, owner: ForeignOwner): Promise<boolean>;
}

/** The owner that a reference of an object in a namespace is to; undefined for one that no other server can be asked for. */
type OwnerOf = (reference: OwnerReference, namespace: string | undefined) => ForeignOwner | undefined;

interface ForeignReference {
  /** Of the dependent. */
  readonly key: string;
  readonly reference: OwnerReference;
  readonly owner: ForeignOwner;
}

interface ForeignDependent {
  isNamespaced: boolean;
  namespace: string | undefined;
}

export interface GarbageCollectorDependencies {
  housekeeping: Housekeeping;
  clusters: Pick<ClusterRegistry, "get">;
  orphaningElsewhere: OrphaningElsewhere;
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
  const orphanedOwners = createOrphanedOwners(housekeeping, orphaningElsewhere);

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
  const enqueueWork = (what: "owner" | "dependent", key: string, settle: () => Promise<void>): void => {
    if (!housekeeping.isManagedElsewhere(key)) housekeeping.enqueue(`${what} ${key}`, settle);
  };
  const enqueueOwner = (key: string): void => enqueueWork("owner", key, () => settleOwner(key));
  const enqueueDependent = (key: string): void => enqueueWork("dependent", key, () => settleDependent(key));

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
  const settleDependent = async (key: string, isGoneElsewhere?: (owner: OwnerReference) => boolean): Promise<void> => {
    const found = housekeeping.find(key);
    if (!found) return;
    const metadata = metadataOf(found.object);
    const owners = ownersOf(found.object);
    if (owners.length === 0 || metadata.deletionTimestamp !== undefined) return;
    const states = owners.map((owner) => stateOf(found, owner, isGoneElsewhere));
    const lost = owners.filter((_, at) => states[at] !== "solid");
    if (lost.length === 0) return;
    if (lost.length < owners.length)
      return housekeeping.setOwners(key, (references) => {
        const rest = references.filter((reference) => !lost.some((owner) => isSameReference(owner, reference)));
        // Another client removed the others: without any reference, the object would stay for ever.
        return rest.length > 0 ? rest : references;
      });
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
      return orphanedOwners.add(key, uid);
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
      await concurrently(concerned, housekeeping.signal, (key) => settleDependent(key));
    },
    *foreignReferences(cluster, ownerOf) {
      for (const [key, owners] of index.dependents()) {
        if (clusterOfKey(key) !== cluster || housekeeping.isManagedElsewhere(key)) continue;
        const place = housekeeping.locate(key);
        if (!place) continue;
        for (const reference of owners) {
          const owner = ownerOf(reference, place.namespace);
          if (owner) yield { key, reference, owner };
        }
      }
    },
    settleWithout(key, isGone) {
      // In the place of other work on this object, which this includes.
      enqueueWork("dependent", key, () => settleDependent(key, isGone));
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
    async ownerWaits(cluster, owner) {
      index.noteWaiting(cluster, owner);
      for (const dependent of dependentsIn(cluster, owner.uid)) await settleDependent(dependent);
      return dependentsIn(cluster, owner.uid).some((dependent) => {
        const found = housekeeping.find(dependent);
        return (
          found !== undefined &&
          ownersOf(found.object).some(
            (reference) => reference.blockOwnerDeletion === true && refersTo(reference, found.namespace, owner),
          )
        );
      });
    },
  };
}
