/**
 * Dependents go with their owners. An index from the uid of an owner to the keys of its dependents is kept from the
 * events of the store, so that a deletion costs what it concerns.
 *
 * Background deletion removes dependents whose owners are all gone. Foreground deletion (a finalizer on the owner)
 * removes the dependents that block it first. Orphaning (another finalizer) takes the owner out of its dependents.
 */
import { gvkOf } from "../../api/index.ts";
import type { OwnerReference } from "../../api/index.ts";
import { isObject } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import type { CachedEntry, CacheEvent } from "../../store/index.ts";
import { concurrently } from "./concurrently.ts";
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../write/delete.ts";
import type { Propagation } from "../write/delete-options.ts";
import type { Housekeeping } from "./housekeeping.ts";
import { finalizersOf, metadataOf } from "../write/metadata.ts";
import { isMarker } from "../clusters/objects.ts";
import { knownObject } from "../read/render.ts";
import { storedMetadataField } from "../read/stored-metadata.ts";
import type { OwnPlace } from "../write/own-request.ts";
import { clusterOfKey, keyOf, memoized } from "../clusters/resources.ts";
import { textOf } from "../request/text.ts";

export interface GarbageCollector {
  /** Everything that is there when the server starts, or what a cluster holds when its own controllers went away. */
  load(entries: Iterable<CachedEntry>): void;
  observe(event: CacheEvent): void;
  /**
   * Tells every dependent of a kind's objects to go that nobody else keeps; resolves when that is durable. Afterwards
   * the kind may go as well: a later start could not tell any more that the owners are gone.
   */
  settleDependentsOf(cluster: string, kind: { group: string; kind: string }): Promise<void>;
}

/** What an owner means to its dependent: it keeps it, it waits for it to go, or it is not there any more. */
type OwnerState = "solid" | "waiting" | "absent";

/**
 * Owners that went lately, for dependents that were on their way: as many as controllers could be creating for at a
 * time.
 */
const MAX_RECENTLY_GONE = 1024;

/** What is known of an entry without parsing it, unless it has owners. */
interface Dependent {
  owners: OwnerReference[];
}

export function createGarbageCollector(house: Housekeeping): GarbageCollector {
  /** Keys of dependents by the uid of their owner. */
  const dependents = new Map<string, Set<string>>();
  const known = new Map<string, Dependent>();
  /** Owners that wait for dependents or for being taken out of them, by uid. */
  const waiting = new Map<string, string>();
  /**
   * Owners whose end was seen, by uid: they are gone also when their kind is not served any more. Those that have
   * dependents stay known until these are settled; the others are soon forgotten.
   */
  const gone = new Set<string>();
  const recentlyGone = new Set<string>();

  const noteGone = (key: string, uid: string): void => {
    if (dependents.has(uid)) gone.add(uid);
    // Only kinds of definitions can go away, and the groups of these have a dot.
    if (!key.slice(1, key.indexOf("/", 1)).includes(".")) return;
    recentlyGone.add(uid);
    const [oldest = ""] = recentlyGone;
    if (recentlyGone.size > MAX_RECENTLY_GONE) recentlyGone.delete(oldest);
  };

  const file = (key: string, owners: OwnerReference[]): void => {
    // An owner that waits may have been waiting for this very change.
    if (waiting.size > 0) for (const { uid } of known.get(key)?.owners ?? []) attendWaiting(uid);
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
      gone.delete(uid);
    }
  };
  /** A dependent that is gone is what its owners may be waiting for. */
  const forget = (key: string): void => {
    const owners = known.get(key)?.owners ?? [];
    unfile(key);
    for (const { uid } of owners) attendWaiting(uid);
  };

  const attendWaiting = (uid: string): void => {
    const owner = waiting.get(uid);
    if (owner !== undefined) attendOwner(owner);
  };
  const attend = (what: "owner" | "dependent", key: string, settle: (key: string) => Promise<void>): void => {
    if (!house.isManagedElsewhere(key)) house.enqueue(`${what} ${key}`, () => settle(key));
  };
  const attendOwner = (key: string): void => attend("owner", key, settleOwner);
  const attendDependent = (key: string): void => attend("dependent", key, settleDependent);

  const observeEntry = (entry: CachedEntry, isNew: boolean): void => {
    const { owners, mayWait } = observed(entry);
    if (owners.length > 0 || known.has(entry.key)) file(entry.key, owners);
    // Its owner may have gone between the decision to create it and now.
    if (isNew && owners.length > 0 && hasLostOwner(entry.key, owners)) attendDependent(entry.key);
    if (mayWait) attendOwner(entry.key);
  };

  /**
   * Owners, and whether the object may wait for its dependents. Its bytes are searched when nobody has parsed them:
   * most objects have neither.
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
    const place = house.locate(key);
    return place !== undefined && owners.some((owner) => stateOf(place, owner) !== "solid");
  };

  /** Deletes a dependent when nobody keeps it; otherwise takes out of it the owners that do not. */
  const settleDependent = async (key: string): Promise<void> => {
    const found = house.find(key);
    if (!found) return;
    const metadata = metadataOf(found.object);
    const owners = ownersOf(found.object);
    if (owners.length === 0 || metadata.deletionTimestamp !== undefined) return;
    const states = owners.map((owner) => stateOf(found, owner));
    const solid = new Set(owners.filter((_, index) => states[index] === "solid").map(({ uid }) => uid));
    if (solid.size === owners.length) return;
    if (solid.size > 0) return house.setOwners(key, (references) => references.filter(({ uid }) => solid.has(uid)));
    const uid = textOf(metadata.uid);
    if (states.includes("waiting") && dependents.has(uid)) {
      // Objects that own each other would wait for each other for ever.
      if (isPartOfCycle(key, uid))
        await house.setOwners(key, (references) =>
          references.map((reference) => ({ ...reference, blockOwnerDeletion: false })),
        );
      return house.remove(key, uid, "Foreground");
    }
    return house.remove(key, uid, propagationOf(finalizersOf(metadata)));
  };

  const isPartOfCycle = (key: string, uid: string): boolean =>
    dependentsOf(key, uid).some((dependent) => {
      const found = house.find(dependent);
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
    // A kind that is not served may come back; nothing is deleted on what cannot be seen, unless its end was.
    if (!ownerResource) return gone.has(owner.uid) || recentlyGone.has(owner.uid) ? "absent" : "solid";
    if (ownerResource.namespaced && !resource.namespaced) return "solid";
    const ownerKey = keyOf(ownerResource, cluster.name, namespace, owner.name);
    const place = house.locate(ownerKey);
    const entry = place && house.entryAt(place, ownerKey);
    // Nobody has parsed most owners when a server starts, and their bytes say enough: it is there, and it stays.
    if (
      entry &&
      entry.revision > 0 &&
      !knownObject(entry) &&
      uidOf(entry) === owner.uid &&
      !bytesOf(entry).includes('"deletionTimestamp"')
    )
      return "solid";
    const current = house.find(ownerKey);
    if (!current || metadataOf(current.object).uid !== owner.uid) return "absent";
    return isWaiting(metadataOf(current.object)) ? "waiting" : "solid";
  };

  /** Carries out what the owner's finalizer asks for, and takes the finalizer off when nothing is left to do. */
  const settleOwner = async (key: string): Promise<void> => {
    const found = house.find(key);
    if (!found) return;
    const metadata = metadataOf(found.object);
    const finalizers = finalizersOf(metadata);
    const uid = textOf(metadata.uid);
    if (metadata.deletionTimestamp === undefined) return;
    waiting.set(uid, key);
    if (finalizers.includes(ORPHAN_FINALIZER)) {
      for (const dependent of dependentsOf(key, uid))
        await house.setOwners(dependent, (references) => references.filter((owner) => owner.uid !== uid));
      waiting.delete(uid);
      return house.removeFinalizer(key, ORPHAN_FINALIZER);
    }
    if (!finalizers.includes(FOREGROUND_FINALIZER)) return void waiting.delete(uid);
    for (const dependent of dependentsOf(key, uid)) await settleDependent(dependent);
    // Those that are left and block wait for finalizers of their own, and report back when they go.
    if (dependentsOf(key, uid).some((dependent) => blocks(dependent, uid))) return;
    waiting.delete(uid);
    return house.removeFinalizer(key, FOREGROUND_FINALIZER);
  };

  const blocks = (key: string, uid: string): boolean => {
    const found = house.find(key);
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
      for (const key of dependents.get(uid) ?? []) attendDependent(key);
    },
    async settleDependentsOf(cluster, { group, kind }) {
      const isOfKind = (owner: OwnerReference): boolean => owner.kind === kind && gvkOf(owner).group === group;
      const concerned = [...known].flatMap(([key, { owners }]) =>
        clusterOfKey(key) === cluster && !house.isManagedElsewhere(key) && owners.some(isOfKind) ? [key] : [],
      );
      await concurrently(concerned, house.signal, settleDependent);
    },
  };
}

/** Foreground deletion: the object goes when its dependents have gone. */
function isWaiting(metadata: JsonObject): boolean {
  return metadata.deletionTimestamp !== undefined && finalizersOf(metadata).includes(FOREGROUND_FINALIZER);
}

/** What an object says itself about its own dependents. */
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
