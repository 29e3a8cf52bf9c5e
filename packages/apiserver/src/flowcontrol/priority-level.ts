/** A priority level of one cluster: its seats, and its queues once a request had to wait. */
import type { PriorityLevelConfigurationSpec } from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { FairQueues } from "./fair-queues.ts";
import type { QueuedRequest } from "./fair-queues.ts";
import type { RejectionReason } from "./rejection-reason.ts";
import type { RetryAfter } from "./retry-after.ts";
import type { DemandIntegrator, SeatLimits } from "./seat-allocation.ts";

/** Requests of an exempt level wait only for the server and the share of their cluster, and never on the hub. */
const EXEMPT_QUEUING = { queues: 64, handSize: 8, queueLengthLimit: 50 };

export class PriorityLevel {
  readonly name: string;
  readonly uid: string;
  readonly isExempt: boolean;
  readonly demand: DemandIntegrator;
  readonly limits: SeatLimits;
  /** The current limit, with what is borrowed or lent. */
  current: number;
  /** Seats in use. */
  executing = 0;
  /** Requests in progress. */
  readonly running = new Set<QueuedRequest>();
  /** Since the configuration of the cluster changed last. */
  readonly counts = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 };
  readonly retryAfter: RetryAfter;
  readonly #queuing: { queues: number; handSize: number; queueLengthLimit: number } | undefined;
  #queues: FairQueues | undefined;

  constructor(
    { name, uid }: { name: string; uid: string },
    spec: DeepReadonly<PriorityLevelConfigurationSpec>,
    limits: SeatLimits,
    { demand, retryAfter }: Pick<PriorityLevel, "demand" | "retryAfter">,
  ) {
    this.name = name;
    this.uid = uid;
    this.isExempt = spec.type === "Exempt";
    this.limits = limits;
    this.current = limits.nominal;
    this.demand = demand;
    this.retryAfter = retryAfter;
    const queuing = spec.limited?.limitResponse?.queuing;
    this.#queuing = this.isExempt
      ? EXEMPT_QUEUING
      : queuing && {
          queues: queuing.queues ?? 1,
          handSize: queuing.handSize ?? 1,
          queueLengthLimit: queuing.queueLengthLimit ?? 1,
        };
  }

  get waiting(): number {
    return this.#queues?.waiting ?? 0;
  }

  /** Unset until a request waits; a level that rejects has none. */
  get queues(): FairQueues | undefined {
    return this.#queues;
  }

  get canQueue(): boolean {
    return this.#queuing !== undefined;
  }

  /** A request that is wider than the level runs alone. */
  hasRoomFor(seats: number): boolean {
    return this.isExempt || this.executing + seats <= this.current || (this.executing === 0 && this.current > 0);
  }

  start(request: QueuedRequest, nowMs: number): void {
    this.executing += request.seats;
    this.running.add(request);
    this.counts.dispatched++;
    this.#queues?.started(request);
    this.#noteDemand(nowMs);
  }

  end(request: QueuedRequest, ranMs: number, nowMs: number): void {
    this.executing -= request.seats;
    this.running.delete(request);
    this.#queues?.ended(request, ranMs);
    this.#noteDemand(nowMs);
  }

  /** False when the queue is full. */
  enqueue(request: QueuedRequest, nowMs: number): boolean {
    if (!this.#queuing) return false;
    this.#queues ??= new FairQueues(this.#queuing);
    const isQueued = this.#queues.enqueue(request);
    if (isQueued) this.#noteDemand(nowMs);
    return isQueued;
  }

  leaveQueue(request: QueuedRequest, nowMs: number): void {
    this.#queues?.remove(request);
    this.#noteDemand(nowMs);
  }

  noteRejected(reason: RejectionReason, nowMs: number): void {
    if (reason === "time-out") this.counts.timedOut++;
    else if (reason === "cancelled") this.counts.cancelled++;
    else this.counts.rejected++;
    // A client that has gone does not come back for the header.
    if (reason !== "cancelled") this.retryAfter.note(nowMs);
  }

  #noteDemand(nowMs: number): void {
    this.demand.set(this.executing + (this.#queues?.waitingSeats ?? 0), nowMs);
  }
}
