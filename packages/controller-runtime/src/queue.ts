/**
 * The work queue of one controller.
 *
 * A key waits in it once, regardless of how often it is added, and is never processed twice at the same time: added
 * while it is running, it returns afterwards. Fresh changes come before the initial list, so that a large list does not
 * delay a user's change; where keys have priorities, the higher one comes before both. Failures return with a delay
 * that doubles per key. Every operation is O(1), with a delay O(log n); memory grows only with the distinct keys that
 * wait, run or have failed.
 */
import type { Clock } from "@flotilla/base";
import type { Lane } from "./runtime-controller.ts";
import { createDelays } from "./delays.ts";
import type { Due } from "./due-heap.ts";
import { PriorityLanes, type Placed } from "./priority-lanes.ts";

/** The first retry is almost immediate, because most failures are a conflict with a write that is already visible. */
export const FIRST_RETRY_MS = 5;
/**
 * A key that keeps failing is retried once a minute: often enough to recover unattended, rare enough to cause no load.
 */
export const LAST_RETRY_MS = 60_000;

interface Item<K> extends Due, Placed {
  readonly id: string;
  key: K;
  /** Since when it has waited in a lane. */
  sinceMs: number;
  running: boolean;
  /** It was added while running, to this lane. */
  again: Lane | undefined;
  failures: number;
}

export interface Queue<K> {
  add(key: K, lane?: Lane): void;
  /** Adds the key after the delay. Of two delays the earlier one wins; taking the key cancels it. */
  addAfter(key: K, delayMs: number): void;
  /** Adds a failed key, with backoff. Returns its number of consecutive failures. */
  addFailed(key: K): number;
  /** The key succeeded: its backoff is reset. Returns the number of failures before. */
  succeeded(key: K): number;
  /** The next key, which counts as running until `finish`; undefined when none is ready. */
  take(): K | undefined;
  finish(key: K): void;
  /** The lane of the key that `take` would return. */
  nextLane(): Lane | undefined;
  /** Number of ready keys. */
  readonly length: number;
  /** Number of delayed keys. */
  readonly delayed: number;
  /** Number of keys whose last run failed. */
  readonly failing: number;
  /** How often a key became ready, since the start. */
  readonly adds: number;
  /** How often a key was retried after a failure, since the start. */
  readonly retries: number;
  /** Since when the oldest ready key has waited; undefined when none is ready. */
  oldestMs(): number | undefined;
  /** Nothing is ready and nothing is running. Delayed keys do not count. */
  isIdle(): boolean;
  /** Drops all keys and stops its timer. */
  close(): void;
}

export interface QueueOptions<K> {
  clock: Clock;
  idOf: (key: K) => string;
  /**
   * Of two ready keys the one with the higher priority comes first. Called whenever a key becomes ready, so it must be
   * cheap; by default all are equal.
   */
  priorityOf?: ((key: K) => number) | undefined;
  onReady: () => void;
  /** Called with the time a key waited from being ready to being taken. */
  onTake?: (waitedMs: number) => void;
}

const EQUAL = (): number => 0;

function newItem<K>(id: string, key: K): Item<K> {
  return {
    id,
    key,
    lane: undefined,
    priority: 0,
    sinceMs: 0,
    running: false,
    again: undefined,
    failures: 0,
    dueMs: 0,
    place: -1,
    turn: 0,
  };
}

export function createQueue<K>(options: QueueOptions<K>): Queue<K> {
  const { clock, idOf, priorityOf = EQUAL, onReady, onTake } = options;
  const items = new Map<string, Item<K>>();
  const lanes = new PriorityLanes<Item<K>>();
  const delayed = createDelays<Item<K>>(clock, (item) => makeReady(item, "fresh"));
  let ready = 0;
  let running = 0;
  let failing = 0;
  let adds = 0;
  let retries = 0;
  let closed = false;

  const itemOf = (key: K): Item<K> => {
    const id = idOf(key);
    let item = items.get(id);
    if (!item) items.set(id, (item = newItem(id, key)));
    return item;
  };
  const dropIfUnused = (item: Item<K>): void => {
    if (!item.lane && !item.running && item.failures === 0 && item.place < 0) items.delete(item.id);
  };

  const makeReady = (item: Item<K>, lane: Lane): void => {
    if (item.running) {
      if (item.again !== "fresh") item.again = lane;
      return;
    }
    if (!item.lane) {
      ready++;
      adds++;
      item.sinceMs = clock.now();
    }
    if (lanes.put(item, lane, priorityOf(item.key))) onReady();
  };

  // A delay computed from an invalid time is NaN, and would block every key behind it.
  const delay = (item: Item<K>, delayMs: number): void =>
    delayed.add(item, Number.isNaN(delayMs) ? LAST_RETRY_MS : delayMs);

  return {
    add(key, lane = "fresh") {
      if (!closed) makeReady(itemOf(key), lane);
    },
    addAfter(key, delayMs) {
      if (!closed) delay(itemOf(key), delayMs);
    },
    addFailed(key) {
      if (closed) return 1;
      const item = itemOf(key);
      delay(item, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** item.failures));
      retries++;
      if (item.failures === 0) failing++;
      return ++item.failures;
    },
    succeeded(key) {
      const item = items.get(idOf(key));
      if (!item) return 0;
      const { failures } = item;
      if (failures > 0) failing--;
      item.failures = 0;
      dropIfUnused(item);
      return failures;
    },
    take() {
      const item = lanes.take();
      if (!item) return undefined;
      onTake?.(clock.now() - item.sinceMs);
      ready--;
      running++;
      item.running = true;
      // The coming run covers the reason for the delay, and decides again when to requeue.
      delayed.remove(item);
      return item.key;
    },
    finish(key) {
      const item = items.get(idOf(key));
      if (!item?.running) return;
      item.running = false;
      running--;
      const { again } = item;
      item.again = undefined;
      if (again) makeReady(item, again);
      else dropIfUnused(item);
    },
    nextLane: () => lanes.next()?.lane,
    get length() {
      return ready;
    },
    get delayed() {
      return delayed.size;
    },
    get failing() {
      return failing;
    },
    get adds() {
      return adds;
    },
    get retries() {
      return retries;
    },
    oldestMs() {
      let oldest: number | undefined;
      for (const { sinceMs } of lanes.heads()) oldest = Math.min(oldest ?? sinceMs, sinceMs);
      return oldest;
    },
    isIdle: () => ready === 0 && running === 0,
    close() {
      closed = true;
      items.clear();
      lanes.clear();
      ready = 0;
      running = 0;
      failing = 0;
      delayed.clear();
    },
  };
}
