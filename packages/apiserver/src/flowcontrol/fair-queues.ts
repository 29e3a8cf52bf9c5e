/**
 * The queues of one priority level. A flow is dealt a hand of queues by its hash, and a request joins the shortest of
 * them, so that a flow with many requests fills its own hand and leaves most others alone. Queues are served by virtual
 * time: each seat-second of work advances the queue's time, and the queue that is furthest behind comes next.
 */
import { createHash } from "node:crypto";
import type { FlowAttributes } from "./flow-match.ts";

export interface QueuedRequest {
  readonly seats: number;
  readonly flow: string;
  /** Called when the request may run. */
  dispatch(): void;
  /** When the request began to wait. */
  readonly sinceMs: number;
  /** When it began to run, if it did. */
  readonly startMs: number;
  /** For a dump. */
  readonly schemaName: string;
  readonly distinguisher: string;
  readonly attributes: FlowAttributes;
  queue?: Queue;
}

interface Queue {
  readonly index: number;
  readonly requests: QueuedRequest[];
  /** Seats of requests that wait. */
  seats: number;
  /** The virtual time at which its next request starts, in seat-milliseconds. */
  nextStart: number;
  executing: number;
}

/** A guess of how long a request runs; the difference is added when the request ends. */
const ESTIMATED_MS = 3;

export class FairQueues {
  readonly #queues: Queue[];
  readonly #handSize: number;
  readonly #lengthLimit: number;
  /** Only queues with requests. */
  readonly #active = new Set<Queue>();
  readonly #hands = new Map<string, readonly number[]>();
  #virtual = 0;
  #waitingSeats = 0;
  #waiting = 0;

  constructor({ queues, handSize, queueLengthLimit }: { queues: number; handSize: number; queueLengthLimit: number }) {
    this.#queues = Array.from({ length: Math.min(queues, MAX_QUEUES) }, (_, index) => ({
      index,
      requests: [],
      seats: 0,
      nextStart: 0,
      executing: 0,
    }));
    this.#handSize = Math.min(handSize, this.#queues.length);
    this.#lengthLimit = queueLengthLimit;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get waitingSeats(): number {
    return this.#waitingSeats;
  }

  /** For a dump: with the estimated work of the requests that wait, in seat-milliseconds. */
  get queues(): readonly (Readonly<Queue> & { work: number })[] {
    return this.#queues.map((queue) => ({ ...queue, work: queue.seats * ESTIMATED_MS }));
  }

  /** The queue for a request of this flow; undefined when its hand is full. */
  choose(flow: string): Queue | undefined {
    const queue = this.#shortest(flow);
    return queue && queue.requests.length < this.#lengthLimit ? queue : undefined;
  }

  #shortest(flow: string): Queue | undefined {
    let best: Queue | undefined;
    for (const index of this.#handOf(flow)) {
      const queue = this.#queues[index];
      if (queue && (!best || loadOf(queue) < loadOf(best))) best = queue;
    }
    return best;
  }

  /** False when the queue of the flow is full. */
  enqueue(request: QueuedRequest): boolean {
    const queue = this.choose(request.flow);
    if (queue) this.#join(queue, request);
    return queue !== undefined;
  }

  /** Takes the requests that wait in other queues, also above the limit: they were accepted. */
  takeOver(others: FairQueues): void {
    const waiting = others.#queues.flatMap(({ requests }) => requests);
    for (const request of waiting.toSorted((a, b) => a.sinceMs - b.sinceMs)) {
      const queue = this.#shortest(request.flow);
      if (!queue) return; // There is at least one queue, and a hand of at least one.
      others.remove(request);
      this.#join(queue, request);
    }
  }

  #join(queue: Queue, request: QueuedRequest): void {
    if (queue.requests.length === 0 && queue.executing === 0)
      queue.nextStart = Math.max(queue.nextStart, this.#virtual);
    request.queue = queue;
    queue.requests.push(request);
    queue.seats += request.seats;
    this.#active.add(queue);
    this.#waiting++;
    this.#waitingSeats += request.seats;
  }

  /** A request that runs without having waited counts for its queue as well. */
  started(request: QueuedRequest): void {
    const queue = (request.queue ??= this.choose(request.flow));
    if (!queue) return;
    if (queue.requests.length === 0 && queue.executing === 0)
      queue.nextStart = Math.max(queue.nextStart, this.#virtual);
    queue.executing += request.seats;
    queue.nextStart += request.seats * ESTIMATED_MS;
  }

  ended({ queue, seats }: QueuedRequest, ranMs: number): void {
    if (!queue) return;
    queue.executing -= seats;
    queue.nextStart += seats * (ranMs - ESTIMATED_MS);
  }

  /** The next request by virtual time; it stays in its queue. */
  peek(): QueuedRequest | undefined {
    let best: Queue | undefined;
    for (const queue of this.#active) if (!best || queue.nextStart < best.nextStart) best = queue;
    if (best) this.#virtual = Math.max(this.#virtual, best.nextStart);
    return best?.requests[0];
  }

  /** Removes a request: it runs now, or its client has gone. */
  remove(request: QueuedRequest): void {
    const { queue } = request;
    const at = queue?.requests.indexOf(request) ?? -1;
    if (!queue || at < 0) return;
    queue.requests.splice(at, 1);
    queue.seats -= request.seats;
    if (queue.requests.length === 0) this.#active.delete(queue);
    this.#waiting--;
    this.#waitingSeats -= request.seats;
  }

  #handOf(flow: string): readonly number[] {
    const known = this.#hands.get(flow);
    if (known) return known;
    if (this.#hands.size >= MAX_HANDS) this.#hands.clear();
    const hand = deal(flow, this.#queues.length, this.#handSize);
    this.#hands.set(flow, hand);
    return hand;
  }
}

/** More queues than this are as good as none in common, and each takes memory. */
const MAX_QUEUES = 1024;
/** Hands are computed again when too many flows came by. */
const MAX_HANDS = 4096;

const loadOf = ({ seats, executing }: Queue): number => seats + executing;

/** Distinct queues by the hash of the flow: a shuffle of which only the first cards are dealt. */
export function deal(flow: string, deck: number, handSize: number): number[] {
  let hash = createHash("sha256").update(flow).digest().readBigUInt64LE() & ((1n << 60n) - 1n);
  const remainders: number[] = [];
  for (let index = 0; index < handSize; index++) {
    const size = BigInt(deck - index);
    remainders.push(Number(hash % size));
    hash /= size;
  }
  const hand: number[] = [];
  for (const [index, remainder] of remainders.entries()) {
    let card = remainder;
    for (let before = index - 1; before >= 0; before--) if (card >= (remainders[before] ?? 0)) card++;
    hand.push(card);
  }
  return hand;
}
