/**
 * The ready keys of a queue, in processing order: the highest priority first, then fresh changes before resyncs, then
 * first in, first out.
 *
 * An item that moves leaves its old slot behind, which is skipped later: each item stores where it waits. While all
 * have the same priority, adding and taking cost a constant; otherwise the logarithm of the number of waiting
 * priorities.
 */
import type { Lane } from "./runtime-controller.ts";
import { Fifo } from "./fifo.ts";

/** Where an item waits; no lane while it does not. */
export interface Placed {
  lane: Lane | undefined;
  priority: number;
}

interface Rank<T> {
  readonly priority: number;
  readonly lanes: Readonly<Record<Lane, Fifo<T>>>;
}

export class PriorityLanes<T extends Placed> {
  /** The highest priority is last, where removal is cheap. */
  readonly #ranks: Rank<T>[] = [];
  /** The rank of the last insertion: usually it is the next one as well. */
  #recent: Rank<T> | undefined;

  /** Puts the item into this lane, or keeps it in the fresh one. False when its position is unchanged. */
  put(item: T, lane: Lane, priority: number): boolean {
    const next = item.lane === "fresh" ? "fresh" : lane;
    if (item.lane === next && item.priority === priority) return false;
    item.lane = next;
    item.priority = priority;
    this.#rankOf(priority).lanes[next].push(item);
    return true;
  }

  /** Removes and returns the next item; undefined when there is none. */
  take(): T | undefined {
    const item = this.next();
    if (!item?.lane) return undefined;
    // Finding it has made its rank the last.
    this.#ranks.at(-1)?.lanes[item.lane].shift();
    item.lane = undefined;
    return item;
  }

  /** The item that `take` would return. */
  next(): T | undefined {
    for (let rank = this.#ranks.at(-1); rank; rank = this.#ranks.at(-1)) {
      const item = first(rank, "fresh") ?? first(rank, "resync");
      if (item) return item;
      // The last rank is kept: a queue that becomes empty often should not recreate it each time.
      if (this.#ranks.length === 1) return undefined;
      if (this.#ranks.pop() === this.#recent) this.#recent = undefined;
    }
    return undefined;
  }

  /** The next item in each lane of each priority: the longest waiting one is among them. */
  *heads(): Iterable<T> {
    for (const rank of this.#ranks) {
      for (const lane of ["fresh", "resync"] as const) {
        const item = first(rank, lane);
        if (item) yield item;
      }
    }
  }

  clear(): void {
    this.#ranks.length = 0;
    this.#recent = undefined;
  }

  #rankOf(priority: number): Rank<T> {
    if (this.#recent?.priority === priority) return this.#recent;
    return (this.#recent = this.#find(priority));
  }

  #find(priority: number): Rank<T> {
    let [low, high] = [0, this.#ranks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranks[middle] as Rank<T>).priority < priority) low = middle + 1;
      else high = middle;
    }
    const found = this.#ranks[low];
    if (found?.priority === priority) return found;
    const rank: Rank<T> = { priority, lanes: { fresh: new Fifo(), resync: new Fifo() } };
    this.#ranks.splice(low, 0, rank);
    return rank;
  }
}

/** The first item of a lane that still waits there; stale slots are dropped. */
function first<T extends Placed>({ priority, lanes }: Rank<T>, lane: Lane): T | undefined {
  const fifo = lanes[lane];
  for (let item = fifo.peek(); item; item = fifo.peek()) {
    if (item.lane === lane && item.priority === priority) return item;
    fifo.shift();
  }
  return undefined;
}
