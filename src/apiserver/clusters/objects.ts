/**
 * The objects of logical clusters: what a cluster wrote, above the layer of its profile. Writing an object of the layer
 * copies it up; deleting one leaves a marker, so that it stays away.
 */
import { invariant } from "../../base/index.ts";
import type { JsonObject } from "../../base/index.ts";
import type { Cache, CachedEntry, CacheEvent, Outcome, Write } from "../../store/index.ts";
import type { LogicalCluster } from "./clusters.ts";
import { encodeSharing } from "../write/encode.ts";
import { clusterPlace } from "../write/in-flight.ts";
import type { InFlight } from "../write/in-flight.ts";
import { encodeObject, formerOf } from "../read/render.ts";
import type { WrittenView } from "../read/render.ts";
import { prefixOf } from "./resources.ts";
import type { Resource } from "./resources.ts";
import type { WriteCounter, WriteCause } from "../write/writes.ts";

/** The stored form of "this object of the profile was deleted": the JSON text `null`. */
const MARKER = new TextEncoder().encode("null");
export const isMarker = ({ value }: CachedEntry): boolean => value.byteLength === MARKER.byteLength;

/** What is at a key, and what a write to it must expect in order to be sure that nothing changed since. */
export interface Found {
  key: string;
  entry?: CachedEntry;
  expect: number | "absent";
}

export interface Page {
  after?: string;
  limit?: number;
}

/** Writes reject with 404 when the cluster was removed. */
export interface ObjectStore {
  find(cluster: LogicalCluster, resource: Resource, key: string): Found;
  /** In key order. */
  list(cluster: LogicalCluster, resource: Resource, namespace?: string, page?: Page): CachedEntry[];
  /** What the cluster itself wrote, without its profile's objects; in key order. */
  written(cluster: LogicalCluster, resource: Resource, namespace?: string): CachedEntry[];
  count(cluster: LogicalCluster, resource: Resource, namespace?: string): number;
  /**
   * The state that the events after a revision led away from. Throws `CompactedError` when it can no longer be told.
   */
  listAt(revision: number, cluster: LogicalCluster, resource: Resource, namespace?: string): CachedEntry[];
  /**
   * The entry as written, or undefined when somebody else was faster. The view is of the storage version; its object
   * must not be changed any more.
   */
  put(cluster: LogicalCluster, found: Found, written: WrittenView, cause: WriteCause): Promise<CachedEntry | undefined>;
  /** The revision of the deletion, or undefined when somebody else was faster. */
  remove(cluster: LogicalCluster, resource: Resource, found: Found, cause: WriteCause): Promise<number | undefined>;
  /** An event as watchers of the cluster see it: markers and the layer are resolved. */
  resolve(cluster: LogicalCluster, resource: Resource, event: CacheEvent): CacheEvent;
}

export function createObjectStore(cache: Cache, writes: WriteCounter, inFlight: InFlight): ObjectStore {
  /**
   * The only way to the store, also for those that waited since they found their cluster: a removed one takes nothing
   * any more.
   */
  const write = async (cluster: LogicalCluster, change: Write, memo?: unknown): Promise<Outcome> => {
    const place = clusterPlace(cluster.name);
    cluster.removed.throwIfAborted();
    inFlight.enter(place);
    try {
      return await cache.write(change, memo);
    } finally {
      inFlight.leave(place);
    }
  };

  const layered = (cluster: LogicalCluster, { prefix }: Resource, key: string): CachedEntry | undefined =>
    cluster.profile.has(prefix)
      ? cluster.profile.get(prefix, key.slice(prefix.length + cluster.name.length + 1), cluster)
      : undefined;

  /** False where the layer has nothing: then there are no markers either, and a list is what was written. */
  const isLayered = (
    cluster: LogicalCluster,
    { prefix, namespaced }: Resource,
    namespace: string | undefined,
  ): boolean => cluster.profile.has(prefix, namespaced ? namespace : undefined);

  /** The layer's entries of a list that the cluster has neither replaced nor deleted. */
  const uncovered = (cluster: LogicalCluster, resource: Resource, namespace?: string): CachedEntry[] => {
    const within = namespace !== undefined && resource.namespaced ? `${namespace}/` : "";
    return cluster.profile.list(resource.prefix, within, cluster).filter(({ key }) => cache.get(key) === undefined);
  };

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
      // Layers are small (namespaces, roles, definitions), so the two are joined and then cut.
      const own = cache.list(prefix, page?.after === undefined ? {} : { after: page.after });
      const joined = [...own.filter((entry) => !isMarker(entry)), ...uncovered(cluster, resource, namespace)].sort(
        byKey,
      );
      const { after, limit } = page ?? {};
      const rest = after === undefined ? joined : joined.filter(({ key }) => compareKeys(key, after) > 0);
      return limit === undefined ? rest : rest.slice(0, limit);
    },

    written: (cluster, resource, namespace) =>
      cache.list(prefixOf(resource, cluster.name, namespace)).filter((entry) => !isMarker(entry)),

    count(cluster, resource, namespace) {
      if (isLayered(cluster, resource, namespace)) return store.list(cluster, resource, namespace).length;
      return cache.count(prefixOf(resource, cluster.name, namespace));
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

    async put(cluster, { key, entry: former, expect }, { object, view }, cause) {
      invariant(
        (object.metadata as JsonObject).resourceVersion === undefined,
        `the value of ${key} has no resourceVersion`,
      );
      const { value, layout } = former
        ? encodeSharing(object, formerOf(former, view.served))
        : { value: encodeObject(object), layout: undefined };
      // Where the parts of a new object lie is worked out when it is first changed: most are changed never or often.
      if (layout) view.layout = layout;
      const outcome = await write(cluster, { key, expect, value }, view);
      if (!outcome.ok) return undefined;
      writes.count(cluster.name, cause);
      return { key, revision: outcome.revision, value, memo: view };
    },

    async remove(cluster, resource, { key, expect }, cause) {
      const value = layered(cluster, resource, key) ? MARKER : null;
      const outcome = await write(cluster, { key, expect, value });
      if (!outcome.ok) return undefined;
      writes.count(cluster.name, cause);
      return outcome.revision;
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

function byKey(a: CachedEntry, b: CachedEntry): number {
  return compareKeys(a.key, b.key);
}

/** Names are ASCII, so code units compare as bytes do. */
function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
