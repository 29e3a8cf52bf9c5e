/**
 * The registry of logical clusters and what each serves. The list is stored, so clusters survive a restart and other
 * API servers on the same store see them.
 */
import { HUB } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { Clock, DeepReadonly, Log, Random } from "@flotilla/base";
import type { Cache, CachedEntry } from "../store/cache.ts";
import { CRD_GROUP, CRD_PLURAL } from "../resources/definition.ts";
import type { Definition } from "../resources/definition.ts";
import { clusterNotFound } from "./cluster-not-found.ts";
import { clusterOfRecord, isRemoved, markedRecord, newRecord, recordIn, RECORDS } from "./cluster-records.ts";
import { createClusterRemoval } from "./cluster-removal.ts";
import type { LogicalCluster as ClusterRecord } from "./logical-cluster-kind.ts";
import type { ProfileLayer } from "./profiles.ts";
import { createServedTables } from "./served-tables.ts";
import { encodeObject } from "../codec/render.ts";
import { clusterOfKey } from "../resources/resources.ts";
import { createdRevision } from "./cluster-origins.ts";
import type { Resource, ResourceTable } from "../resources/resources.ts";
import type { LogicalCluster } from "./logical-cluster.ts";

/** A cluster name is one segment of a path and of a key. */
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

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
  resourceOf(definition: DeepReadonly<Definition>, profile: ProfileLayer): Resource;
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
  const served = createServedTables(cache, options.knownKinds);

  const notify = (change: ClusterChange): void => {
    for (const listener of listeners) listener(change);
  };

  /** Applies a record as it is in the cache now, so the order in which events arrive does not matter. */
  const load = (name: string): void => {
    const entry = cache.get(RECORDS + name);
    const current = clusters.get(name);
    if (current && entry?.revision === current.record.expect) return;
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
    const profile = profileOf(record, profiles);
    const cluster = newCluster(
      entry,
      record,
      createdRevision(name, entry, (key) => cache.get(key)),
      profile,
      served.tableOf(name, profile),
    );
    clusters.set(name, cluster);
    notify({ type: "added", cluster });
  };

  const refresh = (cluster: LogicalCluster): void => {
    const current = clusters.get(cluster.name);
    if (!current) return;
    const table = served.tableOf(current.name, current.profile);
    if (table === current.table) return;
    current.table = table;
    notify({ type: "table", cluster: current });
  };

  const removal = createClusterRemoval({ cache, log }, (name) => {
    const ended = ending.get(name);
    ending.delete(name);
    if (ended) notify({ type: "gone", cluster: ended });
  });

  for (const entry of cache.list(RECORDS)) load(clusterOfRecord(entry.key));
  const stops = [
    cache.watch(RECORDS, cache.revision, (events) => {
      for (const { entry, previous } of events) {
        const name = clusterOfRecord((entry ?? previous)?.key ?? "");
        load(name);
        // The current record: the event may be about a previous cluster of the same name, and the new one must not be
        // emptied.
        const current = cache.get(RECORDS + name);
        if (current && isRemoved(recordIn(current))) void removal.start(name);
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
    resourceOf: served.resourceOf,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    async add(name, profile) {
      const existing = clusters.get(name);
      checkAddition(name, profile, existing, profiles);
      if (existing) return;
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
          return removal.start(name);
        }
        // Whether this write or another client's set the mark, the next read finds it.
        await cache.write({
          key: RECORDS + name,
          expect: entry.revision,
          value: encodeObject(markedRecord(record, { clock })),
        });
      }
    },

    async finishRemovals() {
      for (const entry of cache.list(RECORDS))
        if (isRemoved(recordIn(entry))) await removal.start(clusterOfRecord(entry.key));
    },

    close() {
      for (const stop of stops) stop();
      listeners.clear();
    },
  };
}

function profileOf({ metadata, spec }: ClusterRecord, profiles: ReadonlyMap<string, ProfileLayer>): ProfileLayer {
  const profile = profiles.get(spec.profile);
  if (profile) return profile;
  throw new ClusterError(
    `the cluster ${metadata.name} has the profile ${spec.profile}, which is unknown to this server; start the server with that profile`,
  );
}

function newCluster(
  { key, revision }: CachedEntry,
  { metadata }: ClusterRecord,
  createdAtRevision: number,
  profile: ProfileLayer,
  table: ResourceTable,
): MutableCluster {
  const abort = new AbortController();
  return {
    name: clusterOfRecord(key),
    profile,
    createdAt: metadata.creationTimestamp ?? "",
    revision: createdAtRevision,
    table,
    removed: abort.signal,
    record: { key, expect: revision },
    abort,
  };
}

/** Throws unless a cluster can be added with this name and profile, or exists with them. */
function checkAddition(
  name: string,
  profile: string,
  existing: LogicalCluster | undefined,
  profiles: ReadonlyMap<string, ProfileLayer>,
): void {
  if (!CLUSTER_NAME.test(name))
    throw new ClusterError(
      `cannot add the cluster ${JSON.stringify(name)}: a name consists of lower-case letters, digits and '-', at most 63 characters`,
    );
  if (!profiles.has(profile))
    throw new ClusterError(
      `cannot add the cluster ${name}: there is no profile ${profile} (known: ${[...profiles.keys()].join(", ")})`,
    );
  if (existing && existing.profile.name !== profile)
    throw new ClusterError(
      `the cluster ${name} exists with profile ${existing.profile.name}; remove it before adding it as ${profile}`,
    );
}
