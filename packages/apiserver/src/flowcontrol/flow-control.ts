/**
 * Priority and fairness: which requests run when the server is busy, and which wait (ADR 0045).
 *
 * A seat is a request that is being executed, from its classification to its response: waits for the store and for
 * webhooks included, the transfer of the response not. Each logical cluster has its own priority levels, whose seats are
 * those of a whole server. The server as a whole has as many seats for all clusters together. A cluster takes as many
 * of them as are free, and the hub four times as many, so that some are always free for a cluster that has none: one
 * cluster has half of the seats at most, two have a third each. When a request ends, the cluster with the fewest seats
 * comes next. The hub's leader election and exempt requests do not wait for the server.
 *
 * A request that need not wait costs a classification and some additions: nothing is allocated per flow, and queues
 * exist only in levels that were full.
 */
import { FlowSchema, mandatoryPriorityLevels, PriorityLevelConfiguration } from "@flotilla/kubernetes";
import { HUB } from "@flotilla/apimachinery";
import type { PriorityLevelConfigurationSpec } from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";
import type { Clock, DeepReadonly, MetricsText } from "@flotilla/base";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { objectIn } from "../codec/render.ts";
import { clusterOfKey, keyOf } from "../resources/resources.ts";
import type { Cache } from "../store/cache.ts";
import type { QueuedRequest } from "./fair-queues.ts";
import { createFlowMatcher, flowOf } from "./flow-match.ts";
import type { CompiledSchema, FlowAttributes, FlowMatcher } from "./flow-match.ts";
import { FlowMetrics } from "./flow-metrics.ts";
import type { RejectionReason } from "./rejection-reason.ts";
import { PriorityLevel } from "./priority-level.ts";
import { currentLimits, DemandIntegrator, nominalLimits } from "./seat-allocation.ts";
import { RetryAfter } from "./retry-after.ts";
import { seatsFor } from "./work-estimate.ts";

/** As kube-apiserver has: 400 requests and 200 more that write. */
const DEFAULT_SERVER_SEATS = 600;
/** How many of the free seats the hub may have for each one of another cluster: four fifths of all while it is alone. */
const HUB_WEIGHT = 4;
/** A level of the hub with its own limit alone: controllers that lose their lease stop. */
const LEADER_ELECTION = "leader-election";
/** How long a request waits at most. */
const MAX_WAIT_MS = 15_000;
/** How often the levels of a cluster lend and borrow. */
const ADJUST_MS = 10_000;

/** A request that runs. `leave` must be called once. */
export interface Seat {
  readonly schemaUid: string;
  readonly levelUid: string;
  leave(): void;
}

/** The request cannot wait any longer, or at all: 429. */
export class TooBusyError extends Error {
  readonly schemaUid: string;
  readonly levelUid: string;
  readonly retryAfterSeconds: number;

  constructor({ schemaUid, levelUid }: Pick<Seat, "schemaUid" | "levelUid">, retryAfterSeconds: number) {
    super("Too many requests, please try again later.");
    this.schemaUid = schemaUid;
    this.levelUid = levelUid;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface FlowRequest extends FlowAttributes {
  query: URLSearchParams;
  /** A list or watch of one object by a field selector. */
  isSingle: boolean;
  signal: AbortSignal;
}

export interface FlowControl {
  /**
   * A seat for the request, at once or when there is one; undefined in a cluster without priority levels. Throws or
   * rejects with `TooBusyError`.
   */
  enter(cluster: LogicalCluster, request: FlowRequest): Seat | Promise<Seat> | undefined;
  writeMetrics(cluster: string, text: MetricsText): void;
  /** What `/debug/api_priority_and_fairness` shows of a cluster. */
  levels(cluster: string): readonly PriorityLevel[];
  /** Seats in use and requests waiting, in all clusters. */
  readonly executing: number;
  readonly waiting: number;
  forget(cluster: string): void;
  close(): void;
}

interface ClusterFlows {
  readonly name: string;
  readonly matcher: FlowMatcher;
  readonly levels: ReadonlyMap<string, PriorityLevel>;
  readonly metrics: FlowMetrics;
  /** Seats in use; the same object after a change of the configuration. */
  readonly usage: { executing: number };
  waiting: number;
  adjustedMs: number;
}

/** One request, while it waits and while it runs. A class, because one is created for each request. */
class Ticket implements QueuedRequest, Seat {
  readonly flows: ClusterFlows;
  readonly level: PriorityLevel;
  readonly schema: CompiledSchema;
  readonly seats: number;
  readonly sinceMs: number;
  readonly attributes: FlowAttributes;
  readonly #onLeave: (ticket: Ticket) => void;
  startMs: number;
  queue: QueuedRequest["queue"];
  dispatch: () => void = nothing;

  constructor(
    { flows, level, schema }: { flows: ClusterFlows; level: PriorityLevel; schema: CompiledSchema },
    request: FlowAttributes,
    { seats, nowMs }: { seats: number; nowMs: number },
    onLeave: (ticket: Ticket) => void,
  ) {
    this.flows = flows;
    this.level = level;
    this.schema = schema;
    this.seats = seats;
    this.sinceMs = nowMs;
    this.startMs = nowMs;
    this.attributes = request;
    this.#onLeave = onLeave;
  }

  /** The level is the cluster's own, so the logical cluster is part of the flow. */
  get flow(): string {
    return `${this.schema.name}/${this.distinguisher}`;
  }

  get distinguisher(): string {
    return flowOf(this.schema, this.attributes);
  }

  get schemaName(): string {
    return this.schema.name;
  }

  get schemaUid(): string {
    return this.schema.uid;
  }

  get levelUid(): string {
    return this.level.uid;
  }

  leave(): void {
    this.#onLeave(this);
  }
}

interface Dependencies {
  cache: Cache;
  store: ObjectStore;
  clusters: ClusterRegistry;
  clock: Clock;
  serverSeats?: number;
}

export function createFlowControl({
  cache,
  store,
  clusters,
  clock,
  serverSeats = DEFAULT_SERVER_SEATS,
}: Dependencies): FlowControl {
  /** Clusters that were asked since they last changed. */
  const loaded = new Map<string, ClusterFlows>();
  const stale = new Set<string>();
  /** Clusters with requests that wait. */
  const waitingClusters = new Set<ClusterFlows>();
  let executing = 0;
  let waiting = 0;

  const stops = [FlowSchema, PriorityLevelConfiguration].map(({ group, plural }) =>
    cache.watch(`/${group}/${plural}/`, cache.revision, (events) => {
      for (const { entry, previous } of events) stale.add(clusterOfKey((entry ?? previous)?.key ?? ""));
    }),
  );

  const flowsOf = (cluster: LogicalCluster): ClusterFlows | undefined => {
    const known = loaded.get(cluster.name);
    if (known && !stale.has(cluster.name)) return known;
    stale.delete(cluster.name);
    const flows = load(cluster, known);
    if (flows) loaded.set(cluster.name, flows);
    return flows;
  };

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

  const countOf = (cluster: LogicalCluster, { resource }: FlowAttributes): number => {
    const found = resource && cluster.table.resource(resource.group, resource.resource);
    return found ? store.count(cluster, found) : 0;
  };

  /** Watches that a write of this request notifies. A name that is not known yet belongs to no watch of one object. */
  const watchersOf = (cluster: LogicalCluster, { resource }: FlowAttributes): number => {
    const found = resource && cluster.table.resource(resource.group, resource.resource);
    return found ? cache.watchers(keyOf(found, cluster.name, resource.namespace, resource.name ?? "")) : 0;
  };

  const setCurrent = ({ levels }: ClusterFlows): void => {
    const limits = currentLimits(
      new Map(
        Array.from(levels, ([name, { limits: given, isExempt, demand }]) => [
          name,
          { limits: given, isExempt, highWatermark: demand.highWatermark, smoothed: demand.smoothed },
        ]),
      ),
    );
    for (const [name, level] of levels) level.current = limits.get(name) ?? level.limits.nominal;
  };

  /** Without a timer: a cluster without requests has nothing to borrow. */
  const adjust = (flows: ClusterFlows, nowMs: number): void => {
    if (nowMs - flows.adjustedMs < ADJUST_MS) return;
    flows.adjustedMs = nowMs;
    for (const { demand } of flows.levels.values()) demand.update(nowMs);
    setCurrent(flows);
  };

  /**
   * Exempt requests of the hub never wait, and its leader election waits only for its own level. Exempt requests of other
   * clusters wait for the server, and for the share of their cluster.
   */
  const canStart = ({ seats, level, flows }: Ticket): boolean => {
    if (!level.hasRoomFor(seats)) return false;
    if (flows.name === HUB && (level.isExempt || level.name === LEADER_ELECTION)) return true;
    const free = serverSeats - executing;
    const inUse = flows.usage.executing;
    // The first request of a cluster may be wider than what is free; otherwise narrow ones of others would always pass it.
    return inUse === 0 ? free > 0 : inUse + seats <= (flows.name === HUB ? HUB_WEIGHT * free : free);
  };

  const start = (ticket: Ticket, nowMs: number): void => {
    ticket.startMs = nowMs;
    ticket.schema.dispatched++;
    executing += ticket.seats;
    ticket.flows.usage.executing += ticket.seats;
    ticket.level.start(ticket, nowMs);
  };

  const leave = (ticket: Ticket): void => {
    const nowMs = clock.now();
    executing -= ticket.seats;
    ticket.flows.usage.executing -= ticket.seats;
    ticket.level.end(ticket, nowMs - ticket.startMs, nowMs);
    if (waiting > 0) dispatch(nowMs);
  };

  /** The next request: of the cluster with the fewest seats, of its least used level, by the time of its queues. */
  const dispatch = (nowMs: number): void => {
    for (;;) {
      let next: Ticket | undefined;
      for (const flows of waitingClusters) {
        adjust(flows, nowMs);
        if (next && flows.usage.executing >= next.flows.usage.executing) continue;
        next = nextOf(flows) ?? next;
      }
      if (!next) return;
      unqueue(next, nowMs);
      next.flows.metrics.waited(next.schema, (nowMs - next.sinceMs) / 1000, true);
      start(next, nowMs);
      next.dispatch();
    }
  };

  const nextOf = (flows: ClusterFlows): Ticket | undefined => {
    let best: { request: Ticket; use: number } | undefined;
    for (const level of flows.levels.values()) {
      if (level.waiting === 0) continue;
      const request = level.queues?.peek() as Ticket | undefined;
      if (!request || !canStart(request)) continue;
      const use = level.isExempt ? -1 : level.executing / level.current;
      if (!best || use < best.use) best = { request, use };
    }
    return best?.request;
  };

  const unqueue = (request: Ticket, nowMs: number): void => {
    request.level.leaveQueue(request, nowMs);
    waiting--;
    if (--request.flows.waiting === 0) waitingClusters.delete(request.flows);
  };

  const wait = (
    ticket: Ticket,
    signal: AbortSignal,
    reject: (reason: RejectionReason) => TooBusyError,
  ): Promise<Seat> =>
    new Promise((resolve, fail) => {
      if (!ticket.level.enqueue(ticket, ticket.sinceMs)) return fail(reject("queue-full"));
      const done = (): void => {
        timer.cancel();
        signal.removeEventListener("abort", onAbort);
      };
      const giveUp = (reason: RejectionReason): void => {
        done();
        const nowMs = clock.now();
        unqueue(ticket, nowMs);
        ticket.flows.metrics.waited(ticket.schema, (nowMs - ticket.sinceMs) / 1000, false);
        fail(reject(reason));
      };
      const onAbort = (): void => giveUp("cancelled");
      ticket.dispatch = () => {
        done();
        resolve(ticket);
      };
      waiting++;
      ticket.flows.waiting++;
      waitingClusters.add(ticket.flows);
      const timer = clock.after(MAX_WAIT_MS, () => giveUp("time-out"));
      signal.addEventListener("abort", onAbort, { once: true });
    });

  return {
    enter(cluster, request) {
      const flows = flowsOf(cluster);
      if (!flows) return undefined;
      const schema = flows.matcher.match(request);
      const level = flows.levels.get(schema.level);
      if (!level) return undefined;
      const nowMs = clock.now();
      adjust(flows, nowMs);
      const seats = seatsFor(
        request,
        { objects: () => countOf(cluster, request), watchers: () => watchersOf(cluster, request) },
        level.limits.nominal,
      );
      const ticket = new Ticket({ flows, level, schema }, request, { seats, nowMs }, leave);
      // Those that wait come first.
      if (level.waiting === 0 && canStart(ticket)) {
        start(ticket, nowMs);
        return ticket;
      }
      const reject = (reason: RejectionReason): TooBusyError => {
        flows.metrics.rejected(schema, reason);
        level.noteRejected(reason, clock.now());
        return new TooBusyError({ schemaUid: schema.uid, levelUid: level.uid }, level.retryAfter.seconds);
      };
      if (!level.canQueue) throw reject("concurrency-limit");
      return wait(ticket, request.signal, reject);
    },
    writeMetrics(cluster, text) {
      const flows = loaded.get(cluster);
      (flows?.metrics ?? new FlowMetrics()).write(text, flows?.matcher.schemas ?? [], [
        ...(flows?.levels.values() ?? []),
      ]);
    },
    levels(name) {
      const cluster = clusters.get(name);
      return [...((cluster && flowsOf(cluster)?.levels.values()) ?? [])];
    },
    get executing() {
      return executing;
    },
    get waiting() {
      return waiting;
    },
    forget(cluster) {
      loaded.delete(cluster);
      stale.delete(cluster);
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

const nothing = (): void => {};

/** Validation requires it. */
const specOf = (
  spec: DeepReadonly<PriorityLevelConfigurationSpec> | undefined,
): DeepReadonly<PriorityLevelConfigurationSpec> => spec ?? { type: "Limited" };
