/**
 * The logical clusters and what each serves. The list is stored, so clusters survive a restart and other API servers on the same
 * store see them. A cluster shares the resource table of its profile until it has definitions of its own; clusters with equal
 * definitions share tables again, and every resource is shared by the content of its definition.
 */
import { createHash } from "node:crypto";
import { LOGICAL_CLUSTER_FINALIZER, LogicalCluster as LogicalClusterKind } from "../api/index.ts";
import type { Kind, LogicalCluster as ClusterRecord } from "../api/index.ts";
import { FlotillaError, formatTime, randomUuid, required } from "../base/index.ts";
import type { Clock, DeepReadonly, JsonObject, Log, Random } from "../base/index.ts";
import type { Cache, CachedEntry } from "../store/index.ts";
import { CRD_GROUP, CRD_PLURAL, conditionOf, resourceOfDefinition, withAcceptedNames } from "./crd.ts";
import type { Definition } from "./crd.ts";
import { isMarker } from "./objects.ts";
import type { ProfileLayer } from "./profiles.ts";
import { encodeObject, objectIn } from "./render.ts";
import { HUB } from "./router.ts";
import { clusterOfKey, createResourceTable, prefixOf } from "./resources.ts";
import type { Resource, ResourceTable } from "./resources.ts";

/** Clusters are objects of the hub: it serves them like any other kind, and this registry follows what is written. */
const RECORDS = `/${LogicalClusterKind.group}/${LogicalClusterKind.plural}/${HUB}/`;

/** A cluster name is one label of a path and of a key. */
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface LogicalCluster {
  readonly name: string;
  readonly profile: ProfileLayer;
  readonly createdAt: string;
  /** The revision of the write that made it. */
  readonly revision: number;
  /** What it serves now. Another table means that definitions changed. */
  readonly table: ResourceTable;
  /** Aborted when the cluster is removed. */
  readonly removed: AbortSignal;
}

export interface ClusterChange {
  type: "added" | "removed" | "table";
  cluster: LogicalCluster;
}

export interface ClusterRegistry {
  get(name: string): LogicalCluster | undefined;
  all(): LogicalCluster[];
  add(name: string, profile: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Looks at the definitions of a cluster again, at once. */
  refresh(cluster: LogicalCluster): void;
  /** What a definition serves; shared by content. */
  resourceOf(definition: DeepReadonly<Definition>): Resource;
  subscribe(listener: (change: ClusterChange) => void): () => void;
  /** Removals that were interrupted by a crash are carried on. */
  finishRemovals(): Promise<void>;
  close(): void;
}


interface MutableCluster extends LogicalCluster {
  table: ResourceTable;
  readonly abort: AbortController;
}

export class ClusterError extends FlotillaError {
  constructor(message: string) {
    super("Cluster", message);
  }
}

export function createClusterRegistry(options: { cache: Cache; clock: Clock; random: Random; log: Log; profiles: ReadonlyMap<string, ProfileLayer>; knownKinds: readonly Kind[] }): ClusterRegistry {
  const { cache, clock, random, log, profiles } = options;
  const clusters = new Map<string, MutableCluster>();
  const listeners = new Set<(change: ClusterChange) => void>();
  const known = new Map(options.knownKinds.map((kind) => [`${kind.plural}.${kind.group}`, kind]));
  const resources = new WeakCache<Resource>();
  const tables = new WeakCache<ResourceTable>();

  const tell = (change: ClusterChange): void => {
    for (const listener of listeners) listener(change);
  };

  const resourceOf = (given: DeepReadonly<Definition>): Resource => {
    const definition = withAcceptedNames(given);
    const hash = createHash("sha256").update(JSON.stringify(definition.spec)).digest("base64url");
    return resources.get(hash, () => resourceOfDefinition(definition, known.get(definition.metadata.name)));
  };

  const tableOf = (name: string, profile: ProfileLayer): ResourceTable => {
    const definitions = profile.table.resource(CRD_GROUP, CRD_PLURAL);
    const own = definitions ? cache.list(prefixOf(definitions, name)) : [];
    if (!definitions || own.length === 0) return profile.table;
    const served = new Map(profile.table.resources.map((resource) => [`${resource.name.resource}.${resource.name.group}`, resource]));
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
      const definition = objectIn(entry, required(definitions, "the kind CustomResourceDefinition").storage) as unknown as DeepReadonly<Definition>;
      return conditionOf(definition, "Established")?.status === "True" ? resourceOf(definition) : undefined;
    }
  };

  /** Takes a record over as it is in the cache now; the order in which events arrive does not matter. */
  const load = (name: string): void => {
    const entry = cache.get(RECORDS + name);
    const record = entry && recordIn(entry);
    const current = clusters.get(name);
    if (!entry || !record || record.metadata.deletionTimestamp !== undefined) {
      if (!current) return;
      clusters.delete(name);
      current.abort.abort(new ClusterError(`the cluster ${name} was removed`));
      tell({ type: "removed", cluster: current });
      return;
    }
    if (current) return;
    const profile = profiles.get(record.spec.profile);
    if (!profile) throw new ClusterError(`the cluster ${name} has the profile ${record.spec.profile}, which this server does not know; start it with that profile`);
    const abort = new AbortController();
    const cluster: MutableCluster = {
      name,
      profile,
      createdAt: record.metadata.creationTimestamp ?? "",
      revision: entry.revision,
      table: tableOf(name, profile),
      removed: abort.signal,
      abort,
    };
    clusters.set(name, cluster);
    tell({ type: "added", cluster });
  };

  const refresh = (cluster: LogicalCluster): void => {
    const current = clusters.get(cluster.name);
    if (!current) return;
    const table = tableOf(current.name, current.profile);
    if (table === current.table) return;
    current.table = table;
    tell({ type: "table", cluster: current });
  };

  const finishRemoval = async (name: string, profile: ProfileLayer | undefined): Promise<void> => {
    const table = profile ? tableOf(name, profile) : undefined;
    for (const resource of table?.resources ?? []) {
      await Promise.all(cache.list(prefixOf(resource, name)).map(({ key }) => cache.write({ key, expect: "any", value: null })));
    }
    await cache.write({ key: RECORDS + name, expect: "any", value: null });
  };

  const removals = new Map<string, Promise<void>>();
  /** Empties a cluster that is being deleted. Whoever waits for it is told when it fails; otherwise the next start carries on. */
  const removeInBackground = (entry: CachedEntry): Promise<void> => {
    const name = entry.key.slice(RECORDS.length);
    let removal = removals.get(name);
    if (!removal) {
      removal = finishRemoval(name, profiles.get(recordIn(entry).spec.profile)).finally(() => removals.delete(name));
      removals.set(name, removal);
      removal.catch((error: unknown) => log.error("removing a cluster failed", { cluster: name, error }));
    }
    return removal;
  };

  for (const entry of cache.list(RECORDS)) load(entry.key.slice(RECORDS.length));
  const stops = [
    cache.watch(RECORDS, cache.revision, (events) => {
      for (const { entry, previous } of events) {
        load((entry ?? previous)?.key.slice(RECORDS.length) ?? "");
        if (entry && recordIn(entry).metadata.deletionTimestamp !== undefined) void removeInBackground(entry);
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
      // The event of a cluster that was just made may still be on its way, and whoever made it may use it.
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
      if (!CLUSTER_NAME.test(name)) throw new ClusterError(`cannot add the cluster ${JSON.stringify(name)}: a name is lower-case letters, digits and '-', at most 63 characters`);
      if (!profiles.has(profile)) throw new ClusterError(`cannot add the cluster ${name}: there is no profile ${profile} (known: ${[...profiles.keys()].join(", ")})`);
      const existing = clusters.get(name);
      if (existing) {
        if (existing.profile.name !== profile) throw new ClusterError(`the cluster ${name} exists with profile ${existing.profile.name}; remove it before adding it as ${profile}`);
        return;
      }
      const record = newRecord(name, profile, { clock, random });
      const outcome = await cache.write({ key: RECORDS + name, expect: "absent", value: encodeObject(record) });
      load(name);
      if (!outcome.ok && !clusters.has(name)) throw new ClusterError(`the cluster ${name} is being removed; try again when it is gone`);
    },

    async remove(name) {
      const cluster = clusters.get(name);
      if (!cluster) return;
      const entry = cache.get(RECORDS + name);
      if (!entry) return;
      const record = recordIn(entry);
      const removing = { ...record, metadata: { ...record.metadata, deletionTimestamp: formatTime(clock.now()), deletionGracePeriodSeconds: 0 } };
      await cache.write({ key: RECORDS + name, expect: entry.revision, value: encodeObject(removing as unknown as JsonObject) });
      load(name);
      await removeInBackground(cache.get(RECORDS + name) ?? entry);
    },

    async finishRemovals() {
      for (const entry of cache.list(RECORDS)) if (recordIn(entry).metadata.deletionTimestamp !== undefined) await removeInBackground(entry);
    },

    close() {
      for (const stop of stops) stop();
      listeners.clear();
    },
  };
}

function recordIn({ value }: CachedEntry): ClusterRecord {
  return JSON.parse(new TextDecoder().decode(value)) as ClusterRecord;
}

/** The object as the API would have stored it. */
function newRecord(name: string, profile: string, { clock, random }: { clock: Clock; random: Random }): JsonObject {
  const { group, storageVersion, kind } = LogicalClusterKind;
  const metadata = { name, uid: randomUuid(random), creationTimestamp: formatTime(clock.now()), generation: 1, finalizers: [LOGICAL_CLUSTER_FINALIZER] };
  return { apiVersion: `${group}/${storageVersion}`, kind, metadata, spec: { profile } };
}

/** A number for each resource that is alive, so that a table's signature need not repeat its content. */
const ids = new WeakMap<Resource, number>();
let lastId = 0;
function idOf(resource: Resource): number {
  let id = ids.get(resource);
  if (id === undefined) ids.set(resource, (id = ++lastId));
  return id;
}

/** Values shared by their key for as long as somebody holds them. */
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
