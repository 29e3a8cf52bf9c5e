/**
 * Deletes the objects of a deleted namespace or CRD. A finalizer holds the namespace or CRD until nothing is left. When
 * the mark is visible the objects are final: a create is guarded by its namespace and CRD in the revision that was
 * checked, so one that is decided after the mark fails, and one that was decided before is visible as well.
 * Objects with finalizers of their own are waited for; their deletion enqueues the work again.
 */
import { FlotillaError, formatTime, isObject, objectOf } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import type { CacheEvent, CachedEntry } from "../store/cache.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import { createContentRemoval } from "./content-removal.ts";
import type { Remaining } from "./content-removal.ts";
import { namespaceConditions } from "./namespace-conditions.ts";
import { CRD_FINALIZER, CRD_GROUP, CRD_PLURAL } from "../resources/definition.ts";
import type { Definition } from "../resources/definition.ts";
import { markDeleting } from "../crd/custom-object-rules.ts";
import type { GarbageCollector } from "./garbage-collection.ts";
import type { Housekeeping } from "./housekeeping.ts";
import { finalizersOf, metadataOf } from "../codec/metadata.ts";
import { NAMESPACE_FINALIZER } from "../write/namespaces.ts";
import { isMarker } from "../clusters/objects.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { clusterOfKey } from "../resources/resources.ts";

export interface Cleanup {
  load(entries: Iterable<CachedEntry>): void;
  observe(event: CacheEvent): void;
}

/** What other servers still hold in a namespace; not complete when the time of the pass ended before. */
type ForeignPass = NonNullable<Parameters<typeof namespaceConditions>[3]> & { readonly isComplete: boolean };

const NAMESPACE_PREFIX = "/core/namespaces/";
const DEFINITION_PREFIX = `/${CRD_GROUP}/${CRD_PLURAL}/`;
export function createCleanup(deps: {
  housekeeping: Housekeeping;
  store: ObjectStore;
  clusters: ClusterRegistry;
  clock: Clock;
  collector: Pick<GarbageCollector, "settleDependentsOf">;
  /** Deletes what other servers hold in a namespace, for a while; undefined when there are no other servers. */
  foreignRemoval?(cluster: string): ((namespace: string, signal: AbortSignal) => Promise<ForeignPass>) | undefined;
}): Cleanup {
  const { housekeeping, store, clusters, clock, collector, foreignRemoval } = deps;
  const content = createContentRemoval({ housekeeping, store });
  /** Namespaces that are being emptied: place to key. */
  const emptying = new Map<string, string>();
  /** CRDs whose objects are being deleted, by the place of those objects. */
  const deletingCrds = new Map<string, string>();

  const enqueueNamespace = (key: string): void => {
    if (!housekeeping.isManagedElsewhere(key)) housekeeping.enqueue(`namespace ${key}`, () => clearNamespace(key));
  };
  const enqueueCrd = (key: string): void => housekeeping.enqueue(`definition ${key}`, () => clearDefinition(key));

  const observeEntry = (entry: CachedEntry): void => {
    const isNamespace = entry.key.startsWith(NAMESPACE_PREFIX);
    if (!isNamespace && !entry.key.startsWith(DEFINITION_PREFIX)) return;
    if (isMarker(entry) || !Buffer.from(entry.value).includes('"deletionTimestamp"')) return;
    if (isNamespace) enqueueNamespace(entry.key);
    else enqueueCrd(entry.key);
  };

  const clearNamespace = async (key: string): Promise<void> => {
    const found = housekeeping.find(key);
    const cluster = clusters.get(clusterOfKey(key));
    if (!found || !cluster || metadataOf(found.object).deletionTimestamp === undefined) return;
    const { name } = found;
    const place = namespacePlace(cluster.name, name);
    // Recorded before listing, so that an object deleted in the meantime enqueues the work again.
    emptying.set(place, key);
    const remaining = await content.removeNamespace(cluster, name);
    if (remaining.length > 0) return reportRemaining(key, remaining);
    if (!foreignRemoval?.(cluster.name)) return finalizeNamespace(key, found);
    // Other servers may be slow, and must not take the places of other clusters.
    enqueueForeign(key);
  };

  const enqueueForeign = (key: string): void =>
    housekeeping.enqueue(`foreign content of namespace ${key}`, () => clearForeign(key), clusterOfKey(key));

  const clearForeign = async (key: string): Promise<void> => {
    const found = housekeeping.find(key);
    if (!found || metadataOf(found.object).deletionTimestamp === undefined) return;
    const { name } = found;
    const foreign = await foreignRemoval?.(clusterOfKey(key))?.(name, housekeeping.signal);
    // Other namespaces of the cluster come first.
    if (foreign && !foreign.isComplete) return enqueueForeign(key);
    if (foreign && foreign.unknown.length + foreign.remaining.size > 0) {
      await reportRemaining(key, [], foreign);
      // No event announces the end of objects of other servers.
      throw new FlotillaError(
        "AggregatedServer",
        `namespace ${name}: aggregated servers still have objects, or did not respond`,
      );
    }
    await finalizeNamespace(key, found);
  };

  const finalizeNamespace = async (key: string, found: { name: string; object: JsonObject }): Promise<void> => {
    emptying.delete(namespacePlace(clusterOfKey(key), found.name));
    await housekeeping.rewrite(key, "finalize", (object) => {
      // Another object of the same name, in a recreated cluster.
      if (metadataOf(object).uid !== metadataOf(found.object).uid) return object;
      const spec = isObject(object.spec) ? object.spec : {};
      const finalizers = Array.isArray(spec.finalizers) ? spec.finalizers : [];
      return {
        ...object,
        spec: { ...spec, finalizers: finalizers.filter((finalizer) => finalizer !== NAMESPACE_FINALIZER) },
      };
    });
  };

  const reportRemaining = (
    key: string,
    remaining: readonly Remaining[],
    foreign?: Parameters<typeof namespaceConditions>[3],
  ): Promise<void> =>
    housekeeping.rewrite(key, "status", (object) => ({
      ...object,
      status: {
        ...objectOf(object.status),
        conditions: namespaceConditions(object, remaining, formatTime(clock.now()), foreign),
      },
    }));

  const clearDefinition = async (key: string): Promise<void> => {
    const found = housekeeping.find(key);
    const cluster = clusters.get(clusterOfKey(key));
    if (!found || !cluster || !finalizersOf(metadataOf(found.object)).includes(CRD_FINALIZER)) return;
    const definition = found.object as unknown as Definition;
    if (definition.metadata.deletionTimestamp === undefined) return;
    const resource = clusters.resourceOf(definition, cluster.profile);
    const place = definitionPlace(cluster.name, resource.prefix);
    deletingCrds.set(place, key);
    await housekeeping.rewrite(key, "status", (object) => markDeleting(object, formatTime(clock.now())));
    await content.removeKind(cluster, resource);
    if (store.count(cluster, resource) > 0) return;
    await collector.settleDependentsOf(cluster.name, resource.kind);
    deletingCrds.delete(place);
    await housekeeping.removeFinalizer(key, CRD_FINALIZER);
  };

  /** A deleted object is no longer waited for: its whole cluster may have been removed. */
  const forget = (key: string): void => {
    const waiting = key.startsWith(NAMESPACE_PREFIX)
      ? emptying
      : key.startsWith(DEFINITION_PREFIX)
        ? deletingCrds
        : undefined;
    for (const [place, waitingKey] of waiting ?? []) if (waitingKey === key) waiting?.delete(place);
  };

  return {
    load(entries) {
      for (const entry of entries) observeEntry(entry);
    },
    observe({ entry, previous }) {
      if (entry) observeEntry(entry);
      if ((entry && !isMarker(entry)) || !previous) return;
      if (emptying.size === 0 && deletingCrds.size === 0) return;
      forget(previous.key);
      const [, group = "", plural = "", cluster = "", namespace = "", name] = previous.key.split("/");
      const waitingNamespace = name === undefined ? undefined : emptying.get(namespacePlace(cluster, namespace));
      if (waitingNamespace !== undefined) enqueueNamespace(waitingNamespace);
      const waitingDefinition = deletingCrds.get(definitionPlace(cluster, `/${group}/${plural}/`));
      if (waitingDefinition !== undefined) enqueueCrd(waitingDefinition);
    },
  };
}

/** Where objects wait to be deleted: a namespace, or the objects of a CRD, by the prefix of their resource. */
const namespacePlace = (cluster: string, namespace: string): string => `${cluster}/${namespace}`;
const definitionPlace = (cluster: string, prefix: string): string => `${prefix}${cluster}/`;
