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
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { CachedEntry, CacheEvent } from "../store/cache.ts";
import { concurrently } from "../write/concurrently.ts";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../write/delete.ts";
import type { Propagation } from "../write/delete-options.ts";
import type { Housekeeping } from "./housekeeping.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { isMarker } from "../clusters/objects.ts";
import { knownObject } from "../codec/render.ts";
import { storedMetadataField } from "../codec/stored-metadata.ts";
import type { OwnPlace } from "../write/own-request.ts";
import { clusterOfKey, keyOf, memoized } from "../resources/resources.ts";
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
}

/**
 * The state of an owner as seen from its dependent: it exists, it waits for the dependent's deletion, or it does not
 * exist.
 */
type OwnerState = "solid" | "waiting" | "absent";

/**
 * Owners that were deleted recently, for dependents whose writes were in flight: as many as controllers could be
 * creating dependents for at a time.
 */
const MAX_RECENTLY_DELETED = 1024;

/** What is known of an entry without parsing it, unless it has owners. */
interface Dependent {
  owners: OwnerReference[];
}

export function createGarbageCollector(housekeeping: Housekeeping): GarbageCollector {
  /** Keys of dependents by owner uid. */
  const dependents = new Map<string, Set<string>>();
  const known = new Map<string, Dependent>();
  /** Owners that wait for the deletion or orphaning of their dependents, by uid. */
  const waiting = new Map<string, string>();
  /**
   * Uids of owners whose deletion was observed: they are absent even when their kind is no longer served. Owners with
   * dependents stay here until the dependents are processed; the others are soon dropped.
   */
  const deletedOwners = new Set<string>();
  const recentlyDeletedOwners = new Set<string>();

  const noteGone = (key: string, uid: string): void => {
    if (dependents.has(uid)) deletedOwners.add(uid);
    // Only kinds defined by CRDs can be removed, and their groups contain a dot.
    if (!key.slice(1, key.indexOf("/", 1)).includes(".")) return;
    recentlyDeletedOwners.add(uid);
    const [oldest = ""] = recentlyDeletedOwners;
    if (recentlyDeletedOwners.size > MAX_RECENTLY_DELETED) recentlyDeletedOwners.delete(oldest);
  };

  const indexOwners = (key: string, owners: OwnerReference[]): void => {
    // A waiting owner may have been waiting for this change.
    if (waiting.size > 0) for (const { uid } of known.get(key)?.owners ?? []) enqueueWaitingOwner(uid);
    unfile(key);
    if (owners.length === 0) return;
    known.set(key, { owners });
    for (const { uid } of owners) {
      const keys = dependents.get(uid) ?? new Set();
      dependents.set(uid, keys.add(key));
    }
  };
  const unfile = (key: string): void => {
    const dependent = known.get(key);
    if (!dependent) return;
    known.delete(key);
    for (const { uid } of dependent.owners) {
      const keys = dependents.get(uid);
      keys?.delete(key);
      if (keys?.size !== 0) continue;
      dependents.delete(uid);
      deletedOwners.delete(uid);
    }
  };
  /** Owners may be waiting for the deletion of this dependent. */
  const forget = (key: string): void => {
    const owners = known.get(key)?.owners ?? [];
    unfile(key);
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
    const { owners, mayWait } = observed(entry);
    if (owners.length > 0 || known.has(entry.key)) indexOwners(entry.key, owners);
    // The owner may have been deleted between the decision to create this object and now.
    if (isNew && owners.length > 0 && hasLostOwner(entry.key, owners)) enqueueDependent(entry.key);
    if (mayWait) enqueueOwner(entry.key);
  };

  /**
   * Returns the owners, and whether the object may wait for its dependents. Searches the bytes when they have not been
   * parsed: most objects have neither.
   */
  const observed = (entry: CachedEntry): { owners: OwnerReference[]; mayWait: boolean } => {
    const object = knownObject(entry);
    if (object) {
      const metadata = metadataOf(object);
      const finalizers = finalizersOf(metadata);
      return {
        owners: ownersIn(metadata.ownerReferences),
        mayWait:
          metadata.deletionTimestamp !== undefined &&
          (finalizers.includes(FOREGROUND_FINALIZER) || finalizers.includes(ORPHAN_FINALIZER)),
      };
    }
    const bytes = bytesOf(entry);
    return {
      owners: bytes.includes('"ownerReferences":[{')
        ? ownersIn(storedMetadataField(entry.value, "ownerReferences"))
        : [],
      mayWait:
        bytes.includes('"deletionTimestamp"') &&
        (bytes.includes(`"${FOREGROUND_FINALIZER}"`) || bytes.includes(`"${ORPHAN_FINALIZER}"`)),
    };
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
    const solid = new Set(owners.filter((_, index) => states[index] === "solid").map(({ uid }) => uid));
    if (solid.size === owners.length) return;
    if (solid.size > 0)
      return housekeeping.setOwners(key, (references) => references.filter(({ uid }) => solid.has(uid)));
    const uid = textOf(metadata.uid);
    if (states.includes("waiting") && dependents.has(uid)) {
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

  const dependentsOf = (key: string, uid: string): string[] =>
    [...(dependents.get(uid) ?? [])].filter((dependent) => clusterOfKey(dependent) === clusterOfKey(key));

  const stateOf = ({ cluster, resource, namespace }: OwnPlace, owner: OwnerReference): OwnerState => {
    const { group, kind } = gvkOf(owner);
    const kinds = memoized(
      cluster.table,
      "resources by kind",
      () => new Map(cluster.table.resources.map((served) => [`${served.kind.group}/${served.kind.kind}`, served])),
    );
    const ownerResource = kinds.get(`${group}/${kind}`);
    // A kind that is not served may come back. Nothing is deleted because of an owner that cannot be read, unless its
    // deletion was observed.
    if (!ownerResource)
      return deletedOwners.has(owner.uid) || recentlyDeletedOwners.has(owner.uid) ? "absent" : "solid";
    if (ownerResource.namespaced && !resource.namespaced) return "solid";
    const ownerKey = keyOf(ownerResource, cluster.name, namespace, owner.name);
    const place = housekeeping.locate(ownerKey);
    const entry = place && housekeeping.entryAt(place, ownerKey);
    // Most owners are unparsed when a server starts, and their bytes are sufficient: the owner exists and is not being
    // deleted.
    if (
      entry &&
      entry.revision > 0 &&
      !knownObject(entry) &&
      uidOf(entry) === owner.uid &&
      !bytesOf(entry).includes('"deletionTimestamp"')
    )
      return "solid";
    const current = housekeeping.find(ownerKey);
    if (!current || metadataOf(current.object).uid !== owner.uid) return "absent";
    return isWaiting(metadataOf(current.object)) ? "waiting" : "solid";
  };

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
      return housekeeping.removeFinalizer(key, ORPHAN_FINALIZER);
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
      noteGone(previous?.key ?? "", uid);
      for (const key of dependents.get(uid) ?? []) enqueueDependent(key);
    },
    async settleDependentsOf(cluster, { group, kind }) {
      const isOfKind = (owner: OwnerReference): boolean => owner.kind === kind && gvkOf(owner).group === group;
      const concerned = [...known].flatMap(([key, { owners }]) =>
        clusterOfKey(key) === cluster && !housekeeping.isManagedElsewhere(key) && owners.some(isOfKind) ? [key] : [],
      );
      await concurrently(concerned, housekeeping.signal, settleDependent);
    },
  };
}

/** Foreground deletion: the object is deleted after its dependents. */
function isWaiting(metadata: JsonObject): boolean {
  return metadata.deletionTimestamp !== undefined && finalizersOf(metadata).includes(FOREGROUND_FINALIZER);
}

/** The propagation policy that an object's finalizers specify. */
function propagationOf(finalizers: readonly string[]): Propagation {
  return finalizers.includes(ORPHAN_FINALIZER)
    ? "Orphan"
    : finalizers.includes(FOREGROUND_FINALIZER)
      ? "Foreground"
      : "Background";
}

function ownersOf(object: JsonObject): OwnerReference[] {
  return ownersIn(metadataOf(object).ownerReferences);
}

function ownersIn(references: Json | undefined): OwnerReference[] {
  return Array.isArray(references) ? (references.filter(isObject) as unknown as OwnerReference[]) : [];
}

const bytesOf = ({ value }: CachedEntry): Buffer => Buffer.from(value.buffer, value.byteOffset, value.byteLength);

function uidOf({ value }: CachedEntry): string | undefined {
  const uid = storedMetadataField(value, "uid");
  return typeof uid === "string" ? uid : undefined;
}
