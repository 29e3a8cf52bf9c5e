/**
 * Which requests run: gives each a seat at once, or has it wait until one that ends leaves it room. Of the requests that
 * wait, the cluster with the fewest seats comes next.
 */
import { HUB } from "@flotilla/apimachinery";
import type { Clock } from "@flotilla/base";
import { adjustFlows, type ClusterFlows } from "./cluster-flows.ts";
import type { RejectionReason } from "./rejection-reason.ts";
import type { Ticket } from "./ticket.ts";

/** How many of the free seats the hub may have for each one of another cluster: four fifths of all while it is alone. */
const HUB_WEIGHT = 4;
/** A level of the hub with its own limit alone: controllers that lose their lease stop. */
const LEADER_ELECTION = "leader-election";
/** How long a request waits at most. */
const MAX_WAIT_MS = 15_000;

export interface SeatScheduler {
  /** Whether the request may run at once; it then has its seats. Requests that wait come first. */
  tryStart(ticket: Ticket, nowMs: number): boolean;
  /** Resolves when the request has its seats. Rejects with the error for the reason for which it ends before. */
  wait(ticket: Ticket, signal: AbortSignal, reject: (reason: RejectionReason) => Error): Promise<Ticket>;
  /** Returns the seats. */
  leave(ticket: Ticket): void;
  /** Seats in use and requests waiting, in all clusters. */
  readonly executing: number;
  readonly waiting: number;
}

export function createSeatScheduler({ clock, serverSeats }: { clock: Clock; serverSeats: number }): SeatScheduler {
  /** Clusters with requests that wait. */
  const waitingClusters = new Set<ClusterFlows>();
  let executing = 0;
  let waiting = 0;

  /**
   * Exempt requests of the hub never wait, and its leader election waits only for its own level. Exempt requests of other
   * clusters wait for the server, and for the share of their cluster.
   */
  const canStart = ({ seats, level, flows }: Ticket): boolean => {
    if (!level.hasRoomFor(seats)) return false;
    if (flows.name === HUB && (level.isExempt || level.name === LEADER_ELECTION)) return true;
    const free = serverSeats - executing;
    const inUse = flows.executing;
    // The first request of a cluster may be wider than what is free; otherwise narrow ones of others would always pass it.
    return inUse === 0 ? free > 0 : inUse + seats <= (flows.name === HUB ? HUB_WEIGHT * free : free);
  };

  const start = (ticket: Ticket, nowMs: number): void => {
    ticket.startMs = nowMs;
    ticket.schema.dispatched++;
    executing += ticket.seats;
    ticket.flows.executing += ticket.seats;
    ticket.level.start(ticket, nowMs);
  };

  /** The next request: of the cluster with the fewest seats, of its least used level, by the time of its queues. */
  const dispatch = (nowMs: number): void => {
    for (;;) {
      let next: Ticket | undefined;
      for (const flows of waitingClusters) {
        adjustFlows(flows, nowMs);
        if (next && flows.executing >= next.flows.executing) continue;
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

  return {
    tryStart(ticket, nowMs) {
      if (ticket.level.waiting > 0 || !canStart(ticket)) return false;
      start(ticket, nowMs);
      return true;
    },
    wait: (ticket, signal, reject) =>
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
      }),
    leave(ticket) {
      const nowMs = clock.now();
      executing -= ticket.seats;
      ticket.flows.executing -= ticket.seats;
      ticket.level.end(ticket, nowMs - ticket.startMs, nowMs);
      if (waiting > 0) dispatch(nowMs);
    },
    get executing() {
      return executing;
    },
    get waiting() {
      return waiting;
    },
  };
}
