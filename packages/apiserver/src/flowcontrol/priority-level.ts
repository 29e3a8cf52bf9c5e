/**
 * A priority level of one cluster: its seats, and its queues once a request had to wait. It is the same object while its
 * configuration changes, so that requests that run or wait count against every new limit.
 */
import type { PriorityLevelConfigurationSpec } from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { FairQueues } from "./fair-queues.ts";
import type { QueuedRequest } from "./fair-queues.ts";
import type { RejectionReason } from "./rejection-reason.ts";
import { RetryAfter } from "./retry-after.ts";
import { DemandIntegrator } from "./seat-allocation.ts";
import type { SeatLimits } from "./seat-allocation.ts";

/** Requests of an exempt level wait only for the server and the share of their cluster, and never on the hub. */
const EXEMPT_QUEUING = { queues: 64, handSize: 8, queueLengthLimit: 50 };

type Spec = DeepReadonly<PriorityLevelConfigurationSpec>;

interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

export class PriorityLevel {
  readonly name: string;
  uid = "";
  spec: Spec = { type: "Limited" };
  /** It was deleted, and requests of it still run or wait. */
  isQuiescing = false;
  readonly demand: DemandIntegrator;
  limits: SeatLimits = { nominal: 0, min: 0, max: 0 };
  /** The current limit, with what is borrowed or lent. */
  current = 0;
  /** Seats in use. */
  executing = 0;
  /** Requests in progress. */
  readonly running = new Set<QueuedRequest>();
  /** Since the level exists. */
  readonly counts = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 };
  readonly retryAfter = new RetryAfter();
  #queuing: Queuing | undefined;
  #queues: FairQueues | undefined;

  constructor(name: string, nowMs: number) {
    this.name = name;
    this.demand = new DemandIntegrator(nowMs);
  }

  configure(uid: string, spec: Spec): void {
    this.uid = uid;
    this.spec = spec;
    this.isQuiescing = false;
    const queuing = queuingOf(spec);
    if (equalJson(queuing, this.#queuing)) return;
    this.#queuing = queuing;
    // Requests that wait in a level that rejects from now on keep their queues.
    if (!queuing || !this.#queues) return;
    const before = this.#queues;
    this.#queues = new FairQueues(queuing);
    this.#queues.takeOver(before);
  }

  get isExempt(): boolean {
    return this.spec.type === "Exempt";
  }

  get isIdle(): boolean {
    return this.running.size === 0 && this.waiting === 0;
  }

  get waiting(): number {
    return this.#queues?.waiting ?? 0;
  }

  /** Unset until a request waits. */
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

function queuingOf({ type, limited }: Spec): Queuing | undefined {
  if (type === "Exempt") return EXEMPT_QUEUING;
  const queuing = limited?.limitResponse?.queuing;
  return (
    queuing && {
      queues: queuing.queues ?? 1,
      handSize: queuing.handSize ?? 1,
      queueLengthLimit: queuing.queueLengthLimit ?? 1,
    }
  );
}
