/**
 * What is ready in a queue, in the order in which it is taken: the highest priority first, then fresh changes before
 * resyncs, then first come, first served.
 *
 * An item that moves to another place leaves its old one behind, which is skipped when it comes up: an item says itself
 * where it waits. While all have the same priority, putting and taking cost a constant; otherwise the logarithm of the
 * priorities that wait.
 */
import type { Lane } from "./controller.ts";
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
  /** The highest priority last, where it is cheap to take away. */
  readonly #ranks: Rank<T>[] = [];
  /** The one that was put into last: mostly it is the next as well. */
  #recent: Rank<T> | undefined;

  /**
   * The item waits in this lane from now on, or in the fresh one if it did so already. False when it is where it was.
   */
  put(item: T, lane: Lane, priority: number): boolean {
    const next = item.lane === "fresh" ? "fresh" : lane;
    if (item.lane === next && item.priority === priority) return false;
    item.lane = next;
    item.priority = priority;
    this.#rankOf(priority).lanes[next].push(item);
    return true;
  }

  /** The next item, which then waits no more; undefined when there is none. */
  take(): T | undefined {
    const item = this.next();
    if (!item?.lane) return undefined;
    // Looking for it has left its rank the last.
    this.#ranks.at(-1)?.lanes[item.lane].shift();
    item.lane = undefined;
    return item;
  }

  /** The item that `take` would give. */
  next(): T | undefined {
    for (let rank = this.#ranks.at(-1); rank; rank = this.#ranks.at(-1)) {
      const item = first(rank, "fresh") ?? first(rank, "resync");
      if (item) return item;
      // The last one is kept: a queue that runs empty again and again should not make it anew each time.
      if (this.#ranks.length === 1) return undefined;
      if (this.#ranks.pop() === this.#recent) this.#recent = undefined;
    }
    return undefined;
  }

  /** The item that is next in each lane of each priority: the one that waits for longest is among them. */
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

/** The first item of a lane that still waits there; places that were left are dropped. */
function first<T extends Placed>({ priority, lanes }: Rank<T>, lane: Lane): T | undefined {
  const fifo = lanes[lane];
  for (let item = fifo.peek(); item; item = fifo.peek()) {
    if (item.lane === lane && item.priority === priority) return item;
    fifo.shift();
  }
  return undefined;
}
