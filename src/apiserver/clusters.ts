/**
 * The logical clusters and what each serves. The list is stored, so clusters survive a restart and other API servers on the same
 * store see them. A cluster shares the resource table of its profile until it has definitions of its own; clusters with equal
 * definitions share tables again, and every resource is shared by the content of its definition.
 */
import { createHash } from "node:crypto";
import type { Kind } from "../api/index.ts";
import { FlotillaError, formatTime, required } from "../base/index.ts";
import type { Clock, DeepReadonly, JsonObject } from "../base/index.ts";
import type { Cache, CachedEntry } from "../store/index.ts";
import { CRD_GROUP, CRD_PLURAL, conditionOf, resourceOfDefinition } from "./crd.ts";
import type { Definition } from "./crd.ts";
import { isMarker } from "./objects.ts";
import type { ProfileLayer } from "./profiles.ts";
import { encodeObject, objectIn } from "./render.ts";
import { clusterOfKey, createResourceTable, prefixOf } from "./resources.ts";
import type { Resource, ResourceTable } from "./resources.ts";

/** Keys of the cluster records have the shape of all others; `-` is no cluster's name. */
const RECORDS = "/flotilla.dev/logicalclusters/-/";

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

interface ClusterRecord {
  profile: string;
  createdAt: string;
  removing?: boolean;
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

export function createClusterRegistry(options: { cache: Cache; clock: Clock; profiles: ReadonlyMap<string, ProfileLayer>; knownKinds: readonly Kind[] }): ClusterRegistry {
  const { cache, clock, profiles } = options;
  const clusters = new Map<string, MutableCluster>();
  const listeners = new Set<(change: ClusterChange) => void>();
  const known = new Map(options.knownKinds.map((kind) => [`${kind.plural}.${kind.group}`, kind]));
  const resources = new WeakCache<Resource>();
  const tables = new WeakCache<ResourceTable>();

  const tell = (change: ClusterChange): void => {
    for (const listener of listeners) listener(change);
  };

  const resourceOf = (definition: DeepReadonly<Definition>): Resource => {
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
    const record = entry && (JSON.parse(new TextDecoder().decode(entry.value)) as ClusterRecord);
    const current = clusters.get(name);
    if (!entry || !record || record.removing) {
      if (!current) return;
      clusters.delete(name);
      current.abort.abort(new ClusterError(`the cluster ${name} was removed`));
      tell({ type: "removed", cluster: current });
      return;
    }
    if (current) return;
    const profile = profiles.get(record.profile);
    if (!profile) throw new ClusterError(`the cluster ${name} has the profile ${record.profile}, which this server does not know; start it with that profile`);
    const abort = new AbortController();
    const cluster: MutableCluster = {
      name,
      profile,
      createdAt: record.createdAt,
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

  for (const entry of cache.list(RECORDS)) load(entry.key.slice(RECORDS.length));
  const stops = [
    cache.watch(RECORDS, cache.revision, (events) => {
      for (const { entry, previous } of events) load((entry ?? previous)?.key.slice(RECORDS.length) ?? "");
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
    get: (name) => clusters.get(name),
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
      const record: JsonObject = { profile, createdAt: formatTime(clock.now()) };
      const outcome = await cache.write({ key: RECORDS + name, expect: "absent", value: encodeObject(record) });
      load(name);
      if (!outcome.ok && !clusters.has(name)) throw new ClusterError(`the cluster ${name} is being removed; try again when it is gone`);
    },

    async remove(name) {
      const cluster = clusters.get(name);
      if (!cluster) return;
      const record: JsonObject = { profile: cluster.profile.name, createdAt: cluster.createdAt, removing: true };
      await cache.write({ key: RECORDS + name, expect: "any", value: encodeObject(record) });
      load(name);
      await finishRemoval(name, cluster.profile);
    },

    async finishRemovals() {
      for (const entry of cache.list(RECORDS)) {
        const record = JSON.parse(new TextDecoder().decode(entry.value)) as ClusterRecord;
        if (record.removing) await finishRemoval(entry.key.slice(RECORDS.length), profiles.get(record.profile));
      }
    },

    close() {
      for (const stop of stops) stop();
      listeners.clear();
    },
  };
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
