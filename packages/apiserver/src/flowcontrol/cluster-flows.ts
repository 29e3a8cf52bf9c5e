/**
 * The priority levels of each logical cluster, as its PriorityLevelConfigurations and FlowSchemas define them. They are
 * loaded when a cluster first has a request, and again after a change.
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
import { RetryAfter } from "./retry-after.ts";
import { currentLimits, DemandIntegrator, nominalLimits } from "./seat-allocation.ts";

/** How often the levels of a cluster lend and borrow. */
const ADJUST_MS = 10_000;

export interface ClusterFlows {
  readonly name: string;
  readonly matcher: FlowMatcher;
  readonly levels: ReadonlyMap<string, PriorityLevel>;
  readonly metrics: FlowMetrics;
  /** Seats in use; the same object after a change of the configuration. */
  readonly usage: { executing: number };
  waiting: number;
  adjustedMs: number;
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
  /** Clusters that were asked since they last changed. */
  const loaded = new Map<string, ClusterFlows>();
  const stale = new Set<string>();

  const stops = [FlowSchema, PriorityLevelConfiguration].map(({ group, plural }) =>
    cache.watch(`/${group}/${plural}/`, cache.revision, (events) => {
      for (const { entry, previous } of events) stale.add(clusterOfKey((entry ?? previous)?.key ?? ""));
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
    const objects = [...stored, ...missing];
    const specs = new Map(objects.map(({ metadata, spec }) => [metadata.name, specOf(spec)]));
    const limits = nominalLimits(specs, serverSeats);
    const levels = new Map<string, PriorityLevel>();
    for (const { metadata, spec } of objects) {
      const { name, uid = "" } = metadata;
      const before = former?.levels.get(name);
      const limit = limits.get(name);
      if (limit)
        levels.set(
          name,
          new PriorityLevel({ name, uid }, specOf(spec), limit, {
            demand: before?.demand ?? new DemandIntegrator(nowMs),
            retryAfter: before?.retryAfter ?? new RetryAfter(),
          }),
        );
    }
    const matcher = createFlowMatcher(
      store
        .list(cluster, schemaResource)
        .map((entry) => objectIn(entry, schemaResource.storage) as unknown as DeepReadonly<FlowSchema>),
      (name) => levels.has(name),
    );
    const flows: ClusterFlows = {
      name: cluster.name,
      matcher,
      levels,
      metrics: former?.metrics ?? new FlowMetrics(),
      // Requests of the former levels end there; those that wait there are dispatched as before.
      usage: former?.usage ?? { executing: 0 },
      waiting: 0,
      adjustedMs: nowMs,
    };
    if (former) flows.metrics.keep(former.matcher.schemas);
    setCurrent(flows);
    return flows;
  };

  return {
    of(cluster) {
      const known = loaded.get(cluster.name);
      if (known && !stale.has(cluster.name)) return known;
      stale.delete(cluster.name);
      const flows = load(cluster, known);
      if (flows) loaded.set(cluster.name, flows);
      return flows;
    },
    loaded: (cluster) => loaded.get(cluster),
    forget(cluster) {
      loaded.delete(cluster);
      stale.delete(cluster);
    },
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
  for (const { demand } of flows.levels.values()) demand.update(nowMs);
  setCurrent(flows);
}

/** Validation requires it. */
const specOf = (
  spec: DeepReadonly<PriorityLevelConfigurationSpec> | undefined,
): DeepReadonly<PriorityLevelConfigurationSpec> => spec ?? { type: "Limited" };
