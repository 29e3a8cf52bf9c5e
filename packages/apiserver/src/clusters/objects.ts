/**
 * The objects of logical clusters: a cluster's own writes above the layer of its profile. Writing an object of the
 * layer copies it; deleting one stores a marker that hides it.
 */
import { invalid, tooLarge } from "@flotilla/apimachinery";
import { invariant, compareText } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Cache, CachedEntry, CacheEvent } from "../store/cache.ts";
import type { Guard, Outcome, Write } from "../store/engine.ts";
import { clusterNotFound } from "./cluster-not-found.ts";
import type { LogicalCluster } from "./logical-cluster.ts";
import { encodeSharing } from "../codec/encode.ts";
import { integerErrors } from "../codec/exact-json.ts";
import { encodeObject, formerOf } from "../codec/render.ts";
import type { WrittenView } from "../codec/render.ts";
import { prefixOf } from "../resources/resources.ts";
import type { Resource } from "../resources/resources.ts";
import { createStoreQuota } from "./store-quota.ts";
import type { StoreQuota } from "./store-quota.ts";
import type { WriteCounter, WriteCause } from "./write-counter.ts";

/** The stored form of "this object of the profile was deleted": the JSON text `null`. */
const MARKER = new TextEncoder().encode("null");
export const isMarker = ({ value }: CachedEntry): boolean => value.byteLength === MARKER.byteLength;

/** The entry at a key, and the preconditions for a write that ensure nothing has changed since. */
export interface Found {
  key: string;
  entry?: CachedEntry;
  expect: number | "absent";
  /** Other objects that the writer read and that must be unchanged: the namespace and the CRD of a new object. */
  guards?: readonly Guard[];
}

interface Page {
  after?: string;
  limit?: number;
}

/** Writes fail with 404 when the cluster was removed. */
export interface ObjectStore {
  find(cluster: LogicalCluster, resource: Resource, key: string): Found;
  /** In key order. */
  list(cluster: LogicalCluster, resource: Resource, namespace?: string, page?: Page): CachedEntry[];
  /** The objects that the cluster itself wrote, without its profile's objects; in key order. */
  written(cluster: LogicalCluster, resource: Resource, namespace?: string): CachedEntry[];
  count(cluster: LogicalCluster, resource: Resource, namespace?: string): number;
  /** The state at a revision. Throws `CompactedError` when it is no longer available. */
  listAt(revision: number, cluster: LogicalCluster, resource: Resource, namespace?: string): CachedEntry[];
  /**
   * Returns the entry as written, or undefined when another write came first: to the object, or to what guards it. The
   * next read then sees that write. The view is in the storage version; its
   * object must not be modified afterwards.
   */
  put(cluster: LogicalCluster, found: Found, written: WrittenView, cause: WriteCause): Promise<CachedEntry | undefined>;
  /** Returns the revision of the deletion, or undefined when another write came first. */
  remove(cluster: LogicalCluster, resource: Resource, found: Found, cause: WriteCause): Promise<number | undefined>;
  /** The entry that a write would store, at the revision of the stored one: the end of a dry run. */
  preview(cluster: LogicalCluster, resource: Resource, found: Found, written: WrittenView): CachedEntry;
  /** Several requests are tried together: reads see the previews, and `put` is one. */
  readonly keepsPreviews?: true;
  /** An event as watchers of the cluster see it, with markers and the layer resolved. */
  resolve(cluster: LogicalCluster, resource: Resource, event: CacheEvent): CacheEvent;
}

export function createObjectStore(
  cache: Cache,
  writes: WriteCounter,
  quota: StoreQuota = createStoreQuota(cache),
): ObjectStore {
  /** All writes use this function and are guarded by the record of their cluster: a removed cluster accepts no writes. */
  const write = async (cluster: LogicalCluster, change: Write, memo?: unknown): Promise<Outcome> => {
    cluster.removed.throwIfAborted();
    const { record } = cluster;
    const guards = change.guards ? [record, ...change.guards] : [record];
    const outcome = await cache.write({ ...change, guards }, memo);
    if (!outcome.ok && outcome.failedGuard === record.key) throw clusterNotFound(cluster.name);
    return outcome;
  };

  const layered = (cluster: LogicalCluster, { prefix }: Resource, key: string): CachedEntry | undefined =>
    cluster.profile.has(prefix)
      ? cluster.profile.get(prefix, key.slice(prefix.length + cluster.name.length + 1), cluster)
      : undefined;

  /**
   * False when the layer has no such objects: then there are no markers either, and a list is what the cluster wrote.
   */
  const isLayered = (
    cluster: LogicalCluster,
    { prefix, namespaced }: Resource,
    namespace: string | undefined,
  ): boolean => cluster.profile.has(prefix, namespaced ? namespace : undefined);

  /** The layer's entries of a list that the cluster has neither replaced nor deleted. */
  const uncovered = (cluster: LogicalCluster, resource: Resource, namespace?: string): CachedEntry[] =>
    cluster.profile
      .list(resource.prefix, withinNamespace(resource, namespace), cluster)
      .filter(({ key }) => cache.get(key) === undefined);

  const store: ObjectStore = {
    find(cluster, resource, key) {
      const own = cache.get(key);
      if (!own) {
        const entry = layered(cluster, resource, key);
        return entry ? { key, entry, expect: "absent" } : { key, expect: "absent" };
      }
      return isMarker(own) ? { key, expect: own.revision } : { key, entry: own, expect: own.revision };
    },

    list(cluster, resource, namespace, page) {
      const prefix = prefixOf(resource, cluster.name, namespace);
      if (!isLayered(cluster, resource, namespace)) return cache.list(prefix, page);
      const { after, limit } = page ?? {};
      const own = cache.list(prefix, after === undefined ? {} : { after });
      const layer = uncovered(cluster, resource, namespace).filter(
        ({ key }) => after === undefined || compareText(key, after) > 0,
      );
      return merged(own, layer.sort(byKey), limit);
    },

    written: (cluster, resource, namespace) =>
      cache.list(prefixOf(resource, cluster.name, namespace)).filter((entry) => !isMarker(entry)),

    count(cluster, resource, namespace) {
      let total = cache.count(prefixOf(resource, cluster.name, namespace));
      if (!isLayered(cluster, resource, namespace)) return total;
      // The layer is small, and what the cluster wrote may not be: only the keys of the layer are looked up.
      for (const key of cluster.profile.relativeKeys(resource.prefix, withinNamespace(resource, namespace))) {
        const own = cache.get(`${resource.prefix}${cluster.name}/${key}`);
        if (!own) total += 1;
        else if (isMarker(own)) total -= 1;
      }
      return total;
    },

    listAt(revision, cluster, resource, namespace) {
      const prefix = prefixOf(resource, cluster.name, namespace);
      const undone = cache.eventsAfter(prefix, revision);
      const now = store.list(cluster, resource, namespace);
      if (undone.length === 0) return now;
      const before = new Map(now.map((entry) => [entry.key, entry]));
      for (const event of undone.toReversed()) {
        const { entry, previous } = store.resolve(cluster, resource, event);
        const key = (entry ?? previous)?.key;
        if (key === undefined) continue;
        if (previous) before.set(key, previous);
        else before.delete(key);
      }
      return [...before.values()].sort(byKey);
    },

    async put(cluster, { key, entry: former, expect, guards }, { object, view }, cause) {
      invariant(
        (object.metadata as JsonObject).resourceVersion === undefined,
        `the value of ${key} has no resourceVersion`,
      );
      const { value, layout } = former
        ? encodeSharing(object, formerOf(former, view.served))
        : { value: encodeObject(object), layout: undefined };
      // The layout of a new object is computed when it is first changed: most objects are changed either never or
      // often.
      if (layout) view.layout = layout;
      checkSize(value, former);
      checkIntegers(value, { object, view }, former);
      quota.check(cache.get(key)?.value.length ?? 0, value.length);
      const outcome = await write(cluster, { key, expect, value, guards }, view);
      if (!outcome.ok) return undefined;
      writes.count(cluster.name, cause);
      return { key, revision: outcome.revision, value, memo: view };
    },

    async remove(cluster, resource, { key, expect, guards }, cause) {
      const value = layered(cluster, resource, key) ? MARKER : null;
      const outcome = await write(cluster, { key, expect, value, guards });
      if (!outcome.ok) return undefined;
      writes.count(cluster.name, cause);
      return outcome.revision;
    },

    preview(_cluster, _resource, found, written) {
      const entry = unstoredEntry(found, written);
      checkSize(entry.value, found.entry);
      checkIntegers(entry.value, written, found.entry);
      quota.check(cache.get(found.key)?.value.length ?? 0, entry.value.length);
      return entry;
    },

    resolve(cluster, resource, event) {
      const { revision, entry, previous } = event;
      const hasLayer = cluster.profile.has(resource.prefix);
      if (!hasLayer) return event;
      const key = (entry ?? previous)?.key ?? "";
      const before = previous ? (isMarker(previous) ? undefined : previous) : layered(cluster, resource, key);
      const now = entry && !isMarker(entry) ? entry : undefined;
      return { revision, entry: now, previous: before };
    },
  };
  return store;
}

/**
 * The limit of etcd. Every change of an object is stored whole, and the history keeps thousands of them, so a few small
 * patches of a huge object would fill the disk.
 */
const MAX_OBJECT_BYTES = 1.5 * 1024 * 1024;

/** An object that is too large already, from an earlier version or a snapshot, may still become smaller. */
function checkSize({ length }: Uint8Array, former: CachedEntry | undefined): void {
  if (length > MAX_OBJECT_BYTES && length > (former?.value.length ?? 0))
    throw tooLarge(`Request entity too large: the object would have ${length} bytes; the limit is ${MAX_OBJECT_BYTES}`);
}

/** Whichever way an object was made: from a body, a patch, a script, or by a controller of this process. */
function checkIntegers(value: Uint8Array, { object, view }: WrittenView, former: CachedEntry | undefined): void {
  const errors = integerErrors(object, value, view.served.resource.kind, former?.value);
  if (errors.length === 0) return;
  const { group, kind } = view.served.resource.kind;
  const { name } = object.metadata as { name?: string };
  throw invalid(group, kind, name ?? "", errors);
}

/** An object that is not stored, at the revision of the stored one. */
export function unstoredEntry({ key, entry }: Found, { object, view }: WrittenView): CachedEntry {
  return { key, revision: entry?.revision ?? 0, value: encodeObject(object), memo: view };
}

/** Both are in key order. Layers are small, and the stored entries may be many: nothing is sorted. */
function merged(own: readonly CachedEntry[], layer: readonly CachedEntry[], limit = Infinity): CachedEntry[] {
  const found: CachedEntry[] = [];
  let at = 0;
  for (const entry of own) {
    for (let next = layer[at]; next && byKey(next, entry) < 0; next = layer[++at]) found.push(next);
    if (!isMarker(entry)) found.push(entry);
    if (found.length >= limit) return found.slice(0, limit);
  }
  for (; at < layer.length && found.length < limit; at++) found.push(layer[at] as CachedEntry);
  return found;
}

/** The part of a layer's keys that a list of this namespace covers. */
const withinNamespace = ({ namespaced }: Resource, namespace: string | undefined): string =>
  namespace !== undefined && namespaced ? `${namespace}/` : "";

function byKey(a: CachedEntry, b: CachedEntry): number {
  return compareText(a.key, b.key);
}
