/**
 * Who is told about which events. Watchers are filed by prefix, so an event costs a look-up per level of its key plus
 * one push per prefix that is watched; telling the watchers of a prefix hands the same batch to all of them, once the
 * batch of changes is in the cache and before anybody is answered whose write it holds: who reads a watch after its own
 * write finds it there.
 */
import { StoreError } from "./errors.ts";
import type { CacheEvent } from "./cache.ts";
import { keyOf } from "./history.ts";

export type Listener = (events: readonly CacheEvent[]) => void;

interface Watcher {
  listener: Listener;
  /** Events of the past that it has not been told yet. */
  replay: readonly CacheEvent[];
  /** It knows, or does not want, events up to this revision. */
  seen: number;
  isOpen: boolean;
}

/** The watchers of one prefix. The array is replaced, never changed, so that telling can go over it undisturbed. */
interface Bucket {
  prefix: string;
  watchers: readonly Watcher[];
  pending: CacheEvent[];
  isDirty: boolean;
}

export class Watchers {
  readonly #buckets = new Map<string, Bucket>();
  /** How many prefixes are watched at each depth, so that levels that nobody watches cost nothing. */
  readonly #depths: number[] = [];
  readonly #onError: (error: unknown) => void;
  #dirty: Bucket[] = [];
  #isScheduled = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** True when every watcher was told everything. */
  get isQuiet(): boolean {
    return this.#dirty.length === 0;
  }

  /** Tells `replay` when the caller is done, then events newer than `seen`. Returns what ends it. */
  add(prefix: string, replay: readonly CacheEvent[], seen: number, listener: Listener): () => void {
    if (!prefix.endsWith("/"))
      throw new StoreError(`cannot watch ${JSON.stringify(prefix)}: a watched prefix ends with "/"`);
    const watcher: Watcher = { listener, replay, seen, isOpen: true };
    let bucket = this.#buckets.get(prefix);
    if (!bucket) {
      bucket = { prefix, watchers: [], pending: [], isDirty: false };
      this.#buckets.set(prefix, bucket);
      this.#countDepth(prefix, 1);
    }
    bucket.watchers = [...bucket.watchers, watcher];
    if (replay.length > 0) this.#markDirty(bucket);
    return () => this.#remove(prefix, watcher);
  }

  publish(event: CacheEvent): void {
    const key = keyOf(event);
    let depth = 0;
    for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1), depth++) {
      if (!this.#depths[depth]) continue;
      const bucket = this.#buckets.get(key.slice(0, slash + 1));
      if (!bucket) continue;
      bucket.pending.push(event);
      this.#markDirty(bucket);
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
    queueMicrotask(() => this.#tell());
  }

  #tell(): void {
    this.#isScheduled = false;
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const bucket of dirty) {
      const { pending, watchers } = bucket;
      bucket.isDirty = false;
      bucket.pending = [];
      for (const watcher of watchers) this.#tellOne(watcher, pending);
    }
  }

  #tellOne(watcher: Watcher, pending: readonly CacheEvent[]): void {
    const first = pending[0];
    const news =
      first && first.revision <= watcher.seen ? pending.filter(({ revision }) => revision > watcher.seen) : pending;
    const events = watcher.replay.length > 0 ? [...watcher.replay, ...news] : news;
    watcher.replay = [];
    if (!watcher.isOpen || events.length === 0) return;
    try {
      watcher.listener(events);
    } catch (error) {
      // One broken watcher must not keep the others from their events.
      this.#onError(error);
    }
  }
}
