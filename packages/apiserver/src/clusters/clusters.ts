/**
 * The registry of logical clusters and what each serves. The list is stored, so clusters survive a restart and other
 * API servers on the same store see them. A cluster shares the resource table of its profile until it has CRDs of its
 * own; clusters with equal CRDs share tables again, and every resource is shared by the content of its CRD.
 */
import { createHash } from "node:crypto";
import { LOGICAL_CLUSTER_FINALIZER, LogicalCluster as LogicalClusterKind } from "./logical-cluster-kind.ts";
import { HUB } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { LogicalCluster as ClusterRecord } from "./logical-cluster-kind.ts";
import { FlotillaError, formatTime, randomUuid, required } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject, Log, Random } from "@flotilla/base";
import type { Cache, CachedEntry } from "../store/cache.ts";
import type { Guard } from "../store/engine.ts";
import {
  CRD_GROUP,
  CRD_PLURAL,
  conditionOf,
  resourceOfDefinition,
  withAcceptedNames,
} from "../resources/definition.ts";
import type { Definition } from "../resources/definition.ts";
import { clusterNotFound } from "./cluster-not-found.ts";
import { isMarker } from "./objects.ts";
import type { ProfileLayer } from "./profiles.ts";
import { encodeObject, objectIn } from "../codec/render.ts";
import { clusterOfKey, createResourceTable, prefixOf } from "../resources/resources.ts";
import type { Resource, ResourceTable } from "../resources/resources.ts";

/**
 * Clusters are objects of the hub: the hub serves them like any other kind, and this registry follows the stored
 * objects.
 */
const RECORDS = `/${LogicalClusterKind.group}/${LogicalClusterKind.plural}/${HUB}/`;

/** A cluster name is one segment of a path and of a key. */
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The number of concurrent deletions while a cluster is emptied. */
const REMOVAL_PAGE = 1000;

export interface LogicalCluster {
  readonly name: string;
  readonly profile: ProfileLayer;
  readonly createdAt: string;
  /** The revision of the write that created it. */
  readonly revision: number;
  /** The resources that it serves now. A different table means that CRDs changed. */
  readonly table: ResourceTable;
  /** Aborted when the cluster is removed; the reason is a 404. */
  readonly removed: AbortSignal;
  /** Guards every write to the cluster: its record, which changes only when the cluster is removed. */
  readonly record: Guard;
}

interface ClusterChange {
  /**
   * `removed`: the cluster accepts no more requests. `gone`: its objects are deleted as well; another cluster of the
   * same name may already exist.
   */
  type: "added" | "removed" | "gone" | "table";
  cluster: LogicalCluster;
}

export interface ClusterRegistry {
  get(name: string): LogicalCluster | undefined;
  all(): LogicalCluster[];
  add(name: string, profile: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Re-reads the CRDs of a cluster immediately. */
  refresh(cluster: LogicalCluster): void;
  /** The resource that a CRD serves; shared by content. */
  resourceOf(definition: DeepReadonly<Definition>): Resource;
  subscribe(listener: (change: ClusterChange) => void): () => void;
  /** Resumes removals that were interrupted by a crash. */
  finishRemovals(): Promise<void>;
  close(): void;
}

interface MutableCluster extends LogicalCluster {
  table: ResourceTable;
  readonly abort: AbortController;
}

class ClusterError extends FlotillaError {
  constructor(message: string) {
    super("Cluster", message);
  }
}

export function createClusterRegistry(options: {
  cache: Cache;
  clock: Clock;
  random: Random;
  log: Log;
  profiles: ReadonlyMap<string, ProfileLayer>;
  knownKinds: readonly Kind[];
}): ClusterRegistry {
  const { cache, clock, random, log, profiles } = options;
  const clusters = new Map<string, MutableCluster>();
  /** Removed clusters that are not yet empty. */
  const ending = new Map<string, LogicalCluster>();
  const listeners = new Set<(change: ClusterChange) => void>();
  const known = new Map(options.knownKinds.map((kind) => [`${kind.plural}.${kind.group}`, kind]));
  const resources = new WeakCache<Resource>();
  const tables = new WeakCache<ResourceTable>();

  const notify = (change: ClusterChange): void => {
    for (const listener of listeners) listener(change);
  };

  const resourceOf = (given: DeepReadonly<Definition>, id = contentId(given)): Resource =>
    resources.get(id, () => resourceOfDefinition(withAcceptedNames(given), known.get(given.metadata.name)));

  /**
   * Identifies the resource served by the CRD of an entry by its content; undefined for a CRD that is not established.
   */
  const contentIds = new WeakMap<CachedEntry, string | undefined>();

  const tableOf = (name: string, profile: ProfileLayer): ResourceTable => {
    const definitions = profile.table.resource(CRD_GROUP, CRD_PLURAL);
    const own = definitions ? cache.list(prefixOf(definitions, name)) : [];
    if (!definitions || own.length === 0) return profile.table;
    const served = new Map(
      profile.table.resources.map((resource) => [`${resource.name.resource}.${resource.name.group}`, resource]),
    );
    const signature = createHash("sha256").update(profile.name);
    for (const entry of own) {
      const definitionName = entry.key.slice(entry.key.lastIndexOf("/") + 1);
      const resource = servedBy(entry);
      if (resource) served.set(definitionName, resource);
      else served.delete(definitionName);
      signature.update(`\n${definitionName} ${resource ? idOf(resource) : "-"}`);
    }
    return tables.get(signature.digest("base64url"), () => createResourceTable([...served.values()]));

    function servedBy(entry: CachedEntry): Resource | undefined {
      if (isMarker(entry)) return undefined;
      const definition = objectIn(
        entry,
        required(definitions, "the kind CustomResourceDefinition").storage,
      ) as unknown as DeepReadonly<Definition>;
      // Schemas are large, and every write of one CRD reads all CRDs of its cluster, so each content is parsed once.
      if (!contentIds.has(entry))
        contentIds.set(
          entry,
          conditionOf(definition, "Established")?.status === "True" ? contentId(definition) : undefined,
        );
      const id = contentIds.get(entry);
      return id === undefined ? undefined : resourceOf(definition, id);
    }
  };

  /** Applies a record as it is in the cache now, so the order in which events arrive does not matter. */
  const load = (name: string): void => {
    const entry = cache.get(RECORDS + name);
    const current = clusters.get(name);
    if (current && entry?.revision === current.revision) return;
    const record = entry && recordIn(entry);
    const isMarked = record !== undefined && isRemoved(record);
    if (current) {
      clusters.delete(name);
      current.abort.abort(clusterNotFound(name));
      notify({ type: "removed", cluster: current });
      // The record is deleted after the objects: without it, another server has finished the removal.
      if (isMarked) ending.set(name, current);
      else notify({ type: "gone", cluster: current });
    }
    if (!record || isMarked) return;
    const profile = profiles.get(record.spec.profile);
    if (!profile)
      throw new ClusterError(
        `the cluster ${name} has the profile ${record.spec.profile}, which is unknown to this server; start the server with that profile`,
      );
    const abort = new AbortController();
    const cluster: MutableCluster = {
      name,
      profile,
      createdAt: record.metadata.creationTimestamp ?? "",
      revision: entry.revision,
      table: tableOf(name, profile),
      removed: abort.signal,
      record: { key: entry.key, expect: entry.revision },
      abort,
    };
    clusters.set(name, cluster);
    notify({ type: "added", cluster });
  };

  const refresh = (cluster: LogicalCluster): void => {
    const current = clusters.get(cluster.name);
    if (!current) return;
    const table = tableOf(current.name, current.profile);
    if (table === current.table) return;
    current.table = table;
    notify({ type: "table", cluster: current });
  };

  /**
   * Deletes everything stored under the name of a cluster, whether or not a profile or a CRD still defines it, so that
   * a later cluster of the same name is empty. Once the mark on the record is visible the content is final, because
   * every write is guarded by the record. The record is deleted last: after a crash the next start resumes. Every server
   * of the store does this; their deletions are guarded by the mark, so none reaches a later cluster of the same name.
   */
  const finishRemoval = async (name: string): Promise<void> => {
    for (let entry; (entry = cache.get(RECORDS + name)) && isRemoved(recordIn(entry));) {
      const { key, revision: expect } = entry;
      if (await deleteContent(name, { key, expect })) continue;
      const { ok } = await cache.write({ key, expect, value: null });
      if (ok) break;
    }
    const ended = ending.get(name);
    ending.delete(name);
    if (ended) notify({ type: "gone", cluster: ended });
  };

  /** Returns false when there was nothing to delete. Stops when the mark changes. */
  const deleteContent = async (name: string, mark: Guard): Promise<boolean> => {
    let found = false;
    for (const prefix of storedPrefixes(cache)) {
      for (let page; (page = cache.list(`${prefix}${name}/`, { limit: REMOVAL_PAGE })).length > 0; found = true) {
        const outcomes = await Promise.all(
          page.map(({ key }) => cache.write({ key, expect: "any", value: null, guards: [mark] })),
        );
        if (outcomes.some(({ ok }) => !ok)) return true;
      }
    }
    return found;
  };

  const removals = new Map<string, Promise<void>>();
  /**
   * Empties a cluster that is being deleted. A caller that waits for it receives the failure; otherwise the next start
   * resumes.
   */
  const removeInBackground = (entry: CachedEntry): Promise<void> => {
    const name = entry.key.slice(RECORDS.length);
    let removal = removals.get(name);
    if (!removal) {
      removal = finishRemoval(name).finally(() => removals.delete(name));
      removals.set(name, removal);
      removal.catch((error: unknown) => log.error("removing a cluster failed", { cluster: name, error }));
    }
    return removal;
  };

  for (const entry of cache.list(RECORDS)) load(entry.key.slice(RECORDS.length));
  const stops = [
    cache.watch(RECORDS, cache.revision, (events) => {
      for (const { entry, previous } of events) {
        const name = (entry ?? previous)?.key.slice(RECORDS.length) ?? "";
        load(name);
        // The current record: the event may be about a previous cluster of the same name, and the new one must not be
        // emptied.
        const current = cache.get(RECORDS + name);
        if (current && isRemoved(recordIn(current))) void removeInBackground(current);
      }
    }),
    cache.watch(`/${CRD_GROUP}/${CRD_PLURAL}/`, cache.revision, (events) => {
      const changed = new Set(events.map(({ entry, previous }) => clusterOfKey((entry ?? previous)?.key ?? "")));
      for (const name of changed) {
        const cluster = clusters.get(name);
        if (cluster) refresh(cluster);
      }
    }),
  ];

  return {
    get(name) {
      // The event of a new cluster may still be pending, but its creator may use the cluster already.
      if (!clusters.has(name) && cache.get(RECORDS + name)) load(name);
      return clusters.get(name);
    },
    all: () => [...clusters.values()],
    refresh,
    resourceOf,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    async add(name, profile) {
      if (!CLUSTER_NAME.test(name))
        throw new ClusterError(
          `cannot add the cluster ${JSON.stringify(name)}: a name consists of lower-case letters, digits and '-', at most 63 characters`,
        );
      if (!profiles.has(profile))
        throw new ClusterError(
          `cannot add the cluster ${name}: there is no profile ${profile} (known: ${[...profiles.keys()].join(", ")})`,
        );
      const existing = clusters.get(name);
      if (existing) {
        if (existing.profile.name !== profile)
          throw new ClusterError(
            `the cluster ${name} exists with profile ${existing.profile.name}; remove it before adding it as ${profile}`,
          );
        return;
      }
      const record = newRecord(name, profile, { clock, random });
      const outcome = await cache.write({ key: RECORDS + name, expect: "absent", value: encodeObject(record) });
      load(name);
      if (!outcome.ok && !clusters.has(name))
        throw new ClusterError(`the cluster ${name} is being removed; try again after its removal`);
    },

    async remove(name) {
      // The hub stores the records of all clusters.
      if (name === HUB) throw new ClusterError("the hub cannot be removed");
      for (let entry; (entry = cache.get(RECORDS + name));) {
        const record = recordIn(entry);
        if (isRemoved(record)) {
          load(name);
          return removeInBackground(entry);
        }
        const removing = {
          ...record,
          metadata: { ...record.metadata, deletionTimestamp: formatTime(clock.now()), deletionGracePeriodSeconds: 0 },
        };
        // Whether this write or another client's set the mark, the next read finds it.
        await cache.write({
          key: RECORDS + name,
          expect: entry.revision,
          value: encodeObject(removing as unknown as JsonObject),
        });
      }
    },

    async finishRemovals() {
      for (const entry of cache.list(RECORDS)) if (isRemoved(recordIn(entry))) await removeInBackground(entry);
    },

    close() {
      for (const stop of stops) stop();
      listeners.clear();
    },
  };
}

function contentId(definition: DeepReadonly<Definition>): string {
  return createHash("sha256")
    .update(JSON.stringify(withAcceptedNames(definition).spec))
    .digest("base64url");
}

/** `/<group>/<resource>/` of everything that is stored, in any cluster. Costs one search each. */
function* storedPrefixes(cache: Cache): Generator<string> {
  for (let after = "/"; ;) {
    const [next] = cache.list("/", { after, limit: 1 });
    if (!next) return;
    const end = next.key.indexOf("/", next.key.indexOf("/", 1) + 1);
    yield next.key.slice(0, end + 1);
    // No key is equal to this, and none with the prefix is greater: "0" follows "/".
    after = `${next.key.slice(0, end)}0`;
  }
}

function recordIn({ value }: CachedEntry): ClusterRecord {
  return JSON.parse(new TextDecoder().decode(value)) as ClusterRecord;
}

/** The cluster is marked for deletion. */
const isRemoved = ({ metadata }: ClusterRecord): boolean => metadata.deletionTimestamp !== undefined;

/** The object as the API would have stored it. */
function newRecord(name: string, profile: string, { clock, random }: { clock: Clock; random: Random }): JsonObject {
  const { group, storageVersion, kind } = LogicalClusterKind;
  const metadata = {
    name,
    uid: randomUuid(random),
    creationTimestamp: formatTime(clock.now()),
    generation: 1,
    finalizers: [LOGICAL_CLUSTER_FINALIZER],
  };
  return { apiVersion: `${group}/${storageVersion}`, kind, metadata, spec: { profile } };
}

/** A number for each live resource, so that a table's signature need not repeat its content. */
const ids = new WeakMap<Resource, number>();
let lastId = 0;
function idOf(resource: Resource): number {
  let id = ids.get(resource);
  if (id === undefined) ids.set(resource, (id = ++lastId));
  return id;
}

/** Values shared by their key while they are referenced. */
class WeakCache<T extends object> {
  readonly #values = new Map<string, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (!this.#values.get(key)?.deref()) this.#values.delete(key);
  });

  get(key: string, make: () => T): T {
    const shared = this.#values.get(key)?.deref();
    if (shared) return shared;
    const value = make();
    this.#values.set(key, new WeakRef(value));
    this.#gone.register(value, key);
    return value;
  }
}
