/**
 * Delivers events to watchers. Watchers are grouped by prefix, so an event costs a lookup per level of its key plus one
 * push per watched prefix. All watchers of a prefix get the same batch, once the changes are in the cache and before
 * their writers get a response: a client that reads a watch after its own write finds the write there. Where a change has
 * hundreds of watchers, the others are notified in later turns of the event loop, in the order in which they came: those of
 * controllers are first.
 */
import { setImmediate } from "node:timers";
import { StoreError } from "./errors.ts";
import type { CacheEvent } from "./cache.ts";
import { keyOf } from "./history.ts";

export type Listener = (events: readonly CacheEvent[]) => void;

interface Watcher {
  listener: Listener;
  /** Past events that are not delivered yet. */
  replay: readonly CacheEvent[];
  /** Events up to this revision are known to the watcher, or not requested. */
  seen: number;
  isOpen: boolean;
}

/** The watchers of one prefix. The array is replaced, never modified, so that delivery can iterate over it. */
interface Bucket {
  prefix: string;
  watchers: readonly Watcher[];
  pending: CacheEvent[];
  isDirty: boolean;
  /** Meanwhile events gather in `pending`: the next batch has them all, however slowly the watchers are notified. */
  isDelivering: boolean;
}

/** A batch that is being delivered. */
interface Delivery {
  bucket: Bucket;
  watchers: readonly Watcher[];
  /** How many of them have it. */
  done: number;
  events: readonly CacheEvent[];
}

/** Each takes some 50 µs when it writes to a connection, so a turn takes about 10 ms. */
const NOTIFIED_PER_TURN = 200;

export class Watchers {
  readonly #buckets = new Map<string, Bucket>();
  /** Number of watched prefixes at each depth, so that levels without watchers cost nothing. */
  readonly #depths: number[] = [];
  readonly #onError: (error: unknown) => void;
  #dirty: Bucket[] = [];
  #deliveries: Delivery[] = [];
  #isScheduled = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** True when every event was delivered to every watcher. */
  get isQuiet(): boolean {
    return this.#dirty.length === 0 && this.#deliveries.length === 0;
  }

  /**
   * Delivers `replay` when the caller is done, then events newer than `seen`. Returns a function that ends the watch.
   */
  add(prefix: string, replay: readonly CacheEvent[], seen: number, listener: Listener): () => void {
    if (!prefix.endsWith("/"))
      throw new StoreError(`cannot watch ${JSON.stringify(prefix)}: a watched prefix must end with "/"`);
    const watcher: Watcher = { listener, replay, seen, isOpen: true };
    let bucket = this.#buckets.get(prefix);
    if (!bucket) {
      bucket = { prefix, watchers: [], pending: [], isDirty: false, isDelivering: false };
      this.#buckets.set(prefix, bucket);
      this.#countDepth(prefix, 1);
    }
    bucket.watchers = [...bucket.watchers, watcher];
    if (replay.length > 0) this.#markDirty(bucket);
    return () => this.#remove(prefix, watcher);
  }

  publish(event: CacheEvent): void {
    this.#eachBucket(keyOf(event), (bucket) => {
      bucket.pending.push(event);
      this.#markDirty(bucket);
    });
  }

  /** How many watchers an event of this key is delivered to. Asked for each write, so nothing is allocated but the prefixes. */
  count(key: string): number {
    let count = 0;
    let depth = 0;
    for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1), depth++)
      if (this.#depths[depth]) count += this.#buckets.get(key.slice(0, slash + 1))?.watchers.length ?? 0;
    return count;
  }

  #eachBucket(key: string, visit: (bucket: Bucket) => void): void {
    let depth = 0;
    for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1), depth++) {
      if (!this.#depths[depth]) continue;
      const bucket = this.#buckets.get(key.slice(0, slash + 1));
      if (bucket) visit(bucket);
    }
  }

  #remove(prefix: string, watcher: Watcher): void {
    if (!watcher.isOpen) return;
    watcher.isOpen = false;
    const bucket = this.#buckets.get(prefix);
    if (!bucket) return;
    bucket.watchers = bucket.watchers.filter((other) => other !== watcher);
    if (bucket.watchers.length > 0) return;
    this.#buckets.delete(prefix);
    this.#countDepth(prefix, -1);
  }

  #countDepth(prefix: string, by: number): void {
    let depth = -1;
    for (let slash = prefix.indexOf("/"); slash >= 0; slash = prefix.indexOf("/", slash + 1)) depth++;
    this.#depths[depth] = (this.#depths[depth] ?? 0) + by;
  }

  #markDirty(bucket: Bucket): void {
    if (!bucket.isDirty) {
      bucket.isDirty = true;
      this.#dirty.push(bucket);
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#notifyAll());
  }

  #notifyAll(): void {
    this.#isScheduled = false;
    const isDelivering = this.#deliveries.length > 0;
    const dirty = this.#dirty;
    this.#dirty = dirty.filter((bucket) => bucket.isDelivering);
    for (const bucket of dirty) if (!bucket.isDelivering) this.#begin(bucket);
    if (!isDelivering) this.#deliver();
  }

  #begin(bucket: Bucket): void {
    const { pending, watchers } = bucket;
    bucket.isDirty = false;
    bucket.isDelivering = true;
    bucket.pending = [];
    this.#deliveries.push({ bucket, watchers, done: 0, events: pending });
  }

  #deliver(): void {
    let left = NOTIFIED_PER_TURN;
    for (let next = this.#deliveries[0]; next; next = this.#deliveries[0]) {
      for (; next.done < next.watchers.length && left > 0; next.done++, left--) {
        const watcher = next.watchers[next.done];
        if (watcher) this.#notifyOne(watcher, next.events);
      }
      if (next.done < next.watchers.length) return void setImmediate(() => this.#deliver());
      this.#end(next);
    }
  }

  /** What came in the meantime is delivered after the batches of other prefixes. */
  #end({ bucket }: Delivery): void {
    this.#deliveries.shift();
    bucket.isDelivering = false;
    if (!bucket.isDirty) return;
    this.#dirty = this.#dirty.filter((other) => other !== bucket);
    this.#begin(bucket);
  }

  #notifyOne(watcher: Watcher, pending: readonly CacheEvent[]): void {
    const first = pending[0];
    const newEvents =
      first && first.revision <= watcher.seen ? pending.filter(({ revision }) => revision > watcher.seen) : pending;
    const events = watcher.replay.length > 0 ? [...watcher.replay, ...newEvents] : newEvents;
    watcher.replay = [];
    if (!watcher.isOpen || events.length === 0) return;
    try {
      watcher.listener(events);
    } catch (error) {
      // A failing watcher must not block the others.
      this.#onError(error);
    }
  }
}
