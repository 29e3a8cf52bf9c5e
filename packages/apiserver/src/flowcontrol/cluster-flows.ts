/**
 * The priority levels of each logical cluster, as its PriorityLevelConfigurations and FlowSchemas define them. They are
 * loaded when a cluster first has a request, and again after a change. A change keeps the requests that run and wait, and
 * what they count for: otherwise every write would free all seats.
 */
import { FlowSchema, mandatoryPriorityLevels, PriorityLevelConfiguration } from "@flotilla/kubernetes";
import type { PriorityLevelConfigurationSpec } from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { objectIn } from "../codec/render.ts";
import { clusterOfKey } from "../resources/resources.ts";
import type { Cache } from "../store/cache.ts";
import { createFlowMatcher, type FlowMatcher } from "./flow-match.ts";
import { FlowMetrics } from "./flow-metrics.ts";
import { PriorityLevel } from "./priority-level.ts";
import { currentLimits, nominalLimits } from "./seat-allocation.ts";

/** How often the levels of a cluster lend and borrow. */
const ADJUST_MS = 10_000;

/** The same object while the configuration changes. */
export interface ClusterFlows {
  readonly name: string;
  matcher: FlowMatcher;
  /** Also those that were deleted and have requests. */
  levels: ReadonlyMap<string, PriorityLevel>;
  readonly metrics: FlowMetrics;
  /** Seats in use. */
  executing: number;
  waiting: number;
  adjustedMs: number;
  /** The configuration has changed, or the last request of a deleted level has ended. */
  isStale: boolean;
}

interface Dependencies {
  cache: Cache;
  store: ObjectStore;
  clock: Clock;
  serverSeats: number;
}

export interface FlowsOfClusters {
  /** Undefined in a cluster without priority levels. */
  of(cluster: LogicalCluster): ClusterFlows | undefined;
  /** Those of a cluster that had requests. */
  loaded(cluster: string): ClusterFlows | undefined;
  forget(cluster: string): void;
  close(): void;
}

export function createClusterFlows({ cache, store, clock, serverSeats }: Dependencies): FlowsOfClusters {
  const loaded = new Map<string, ClusterFlows>();

  const stops = [FlowSchema, PriorityLevelConfiguration].map(({ group, plural }) =>
    cache.watch(`/${group}/${plural}/`, cache.revision, (events) => {
      for (const { entry, previous } of events) {
        const flows = loaded.get(clusterOfKey((entry ?? previous)?.key ?? ""));
        if (flows) flows.isStale = true;
      }
    }),
  );

  const load = (cluster: LogicalCluster, former: ClusterFlows | undefined): ClusterFlows | undefined => {
    const levelResource = cluster.table.resource(PriorityLevelConfiguration.group, PriorityLevelConfiguration.plural);
    const schemaResource = cluster.table.resource(FlowSchema.group, FlowSchema.plural);
    if (!levelResource || !schemaResource) return undefined;
    const nowMs = clock.now();
    const stored = store
      .list(cluster, levelResource)
      .map((entry) => objectIn(entry, levelResource.storage) as unknown as DeepReadonly<PriorityLevelConfiguration>);
    const missing = mandatoryPriorityLevels().filter(
      ({ metadata }) => !stored.some((object) => object.metadata.name === metadata.name),
    );
    const levels = new Map<string, PriorityLevel>();
    for (const { metadata, spec } of [...stored, ...missing]) {
      const { name, uid = "" } = metadata;
      const level = former?.levels.get(name) ?? new PriorityLevel(name, nowMs);
      level.configure(uid, specOf(spec));
      levels.set(name, level);
    }
    const matcher = createFlowMatcher(
      store
        .list(cluster, schemaResource)
        .map((entry) => objectIn(entry, schemaResource.storage) as unknown as DeepReadonly<FlowSchema>),
      (name) => levels.has(name),
    );
    // After the schemas: a deleted level takes no more requests, and keeps its seats while it has some.
    for (const [name, level] of former?.levels ?? []) {
      if (levels.has(name) || level.isIdle) continue;
      level.isQuiescing = true;
      levels.set(name, level);
    }
    const limits = nominalLimits(new Map(Array.from(levels, ([name, { spec }]) => [name, spec])), serverSeats);
    for (const [name, level] of levels) level.limits = limits.get(name) ?? level.limits;
    if (former) former.metrics.keep(former.matcher.schemas);
    const flows: ClusterFlows = former ?? {
      name: cluster.name,
      matcher,
      levels,
      metrics: new FlowMetrics(),
      executing: 0,
      waiting: 0,
      adjustedMs: nowMs,
      isStale: false,
    };
    Object.assign(flows, { matcher, levels, isStale: false });
    setCurrent(flows);
    return flows;
  };

  return {
    of(cluster) {
      const known = loaded.get(cluster.name);
      if (known && !known.isStale) return known;
      const flows = load(cluster, known);
      if (flows) loaded.set(cluster.name, flows);
      return flows;
    },
    loaded: (cluster) => loaded.get(cluster),
    forget: (cluster) => void loaded.delete(cluster),
    close() {
      for (const stop of stops) stop();
    },
  };
}

function setCurrent({ levels }: ClusterFlows): void {
  const limits = currentLimits(
    new Map(
      Array.from(levels, ([name, { limits: given, isExempt, demand }]) => [
        name,
        { limits: given, isExempt, highWatermark: demand.highWatermark, smoothed: demand.smoothed },
      ]),
    ),
  );
  for (const [name, level] of levels) level.current = limits.get(name) ?? level.limits.nominal;
}

/** Lends and borrows seats. Without a timer: a cluster without requests has nothing to borrow. */
export function adjustFlows(flows: ClusterFlows, nowMs: number): void {
  if (nowMs - flows.adjustedMs < ADJUST_MS) return;
  flows.adjustedMs = nowMs;
  for (const level of flows.levels.values()) {
    level.demand.update(nowMs);
    if (level.isQuiescing && level.isIdle) flows.isStale = true;
  }
  setCurrent(flows);
}

/** Validation requires it. */
const specOf = (
  spec: DeepReadonly<PriorityLevelConfigurationSpec> | undefined,
): DeepReadonly<PriorityLevelConfigurationSpec> => spec ?? { type: "Limited" };
