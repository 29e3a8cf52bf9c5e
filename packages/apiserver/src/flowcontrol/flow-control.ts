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
import type { Clock, MetricsText } from "@flotilla/base";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { keyOf } from "../resources/resources.ts";
import type { Cache } from "../store/cache.ts";
import { adjustFlows, createClusterFlows } from "./cluster-flows.ts";
import type { FlowAttributes } from "./flow-match.ts";
import { FlowMetrics } from "./flow-metrics.ts";
import type { RejectionReason } from "./rejection-reason.ts";
import type { PriorityLevel } from "./priority-level.ts";
import { createSeatScheduler } from "./seat-scheduler.ts";
import { Ticket, type Seat } from "./ticket.ts";
import { seatsFor } from "./work-estimate.ts";

/** As kube-apiserver has: 400 requests and 200 more that write. */
const DEFAULT_SERVER_SEATS = 600;

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
  const clusterFlows = createClusterFlows({ cache, store, clock, serverSeats });
  const scheduler = createSeatScheduler({ clock, serverSeats });

  const countOf = (cluster: LogicalCluster, { resource }: FlowAttributes): number => {
    const found = resource && cluster.table.resource(resource.group, resource.resource);
    return found ? store.count(cluster, found) : 0;
  };

  /** Watches that a write of this request notifies. A name that is not known yet belongs to no watch of one object. */
  const watchersOf = (cluster: LogicalCluster, { resource }: FlowAttributes): number => {
    const found = resource && cluster.table.resource(resource.group, resource.resource);
    return found ? cache.watchers(keyOf(found, cluster.name, resource.namespace, resource.name ?? "")) : 0;
  };

  return {
    enter(cluster, request) {
      const flows = clusterFlows.of(cluster);
      if (!flows) return undefined;
      const schema = flows.matcher.match(request);
      const level = flows.levels.get(schema.level);
      if (!level) return undefined;
      const nowMs = clock.now();
      adjustFlows(flows, nowMs);
      const seats = seatsFor(
        request,
        { objects: () => countOf(cluster, request), watchers: () => watchersOf(cluster, request) },
        level.limits.nominal,
      );
      const ticket = new Ticket({ flows, level, schema, attributes: request, seats, nowMs, onLeave: scheduler.leave });
      if (scheduler.tryStart(ticket, nowMs)) return ticket;
      const reject = (reason: RejectionReason): TooBusyError => {
        flows.metrics.rejected(schema, reason);
        level.noteRejected(reason, clock.now());
        return new TooBusyError({ schemaUid: schema.uid, levelUid: level.uid }, level.retryAfter.seconds);
      };
      if (!level.canQueue) throw reject("concurrency-limit");
      return scheduler.wait(ticket, request.signal, reject);
    },
    writeMetrics(cluster, text) {
      const flows = clusterFlows.loaded(cluster);
      (flows?.metrics ?? new FlowMetrics()).write(text, flows?.matcher.schemas ?? [], [
        ...(flows?.levels.values() ?? []),
      ]);
    },
    levels(name) {
      const cluster = clusters.get(name);
      return [...((cluster && clusterFlows.of(cluster)?.levels.values()) ?? [])];
    },
    get executing() {
      return scheduler.executing;
    },
    get waiting() {
      return scheduler.waiting;
    },
    forget: clusterFlows.forget,
    close: clusterFlows.close,
  };
}
