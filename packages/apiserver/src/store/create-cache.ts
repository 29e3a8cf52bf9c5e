/**
 * Builds the cache of `cache.ts` from an engine: loads the entries, then follows the engine's changes.
 *
 * Reads: `scan` once, `changes` continuously, `past` when a watcher resumes from before the cache was opened.
 * Writes: the arguments of `write`; the index, the history and the watchers are updated only when the change arrives
 * from the engine.
 */
import { abortable, messageOf } from "@flotilla/base";
import type { Cache, CachedEntry, CacheEvent } from "./cache.ts";
import type { Change, Engine, Outcome, PastChange, Write } from "./engine.ts";
import { DamagedStoreError, StoreError } from "./errors.ts";
import { History } from "./history.ts";
import { KeyLocks } from "./key-locks.ts";
import { eventsOf, readPast } from "./past.ts";
import { RevisionWaits } from "./revision-waits.ts";
import { SharedCheck } from "./shared-check.ts";
import { SortedEntries } from "./sorted-entries.ts";
import { Watchers, type Listener } from "./watchers.ts";

export interface CacheOptions {
  /** How many events are kept for watchers that start in the past. */
  historyLimit?: number;
  /** How many bytes of replaced values these events may retain. */
  historyBytes?: number;
  /**
   * Called with errors that watchers throw, and once when the engine can no longer be followed. Defaults to a process
   * warning.
   */
  onError?: (error: unknown) => void;
}

export async function createCache(engine: Engine, options: CacheOptions = {}): Promise<Cache> {
  const index = new SortedEntries<CachedEntry>();
  const start = await engine.revision();
  for await (const batch of engine.scan("")) {
    for (const { key, revision, value } of batch) index.set({ key, revision, value, memo: undefined });
  }
  // The scan may or may not include concurrent writes of other processes. They arrive again as changes, which `apply`
  // tolerates; the cache is returned when it has applied them all.
  const loaded = await engine.revision();
  const cache = new FollowingCache(engine, index, start, loaded, options);
  await cache.whenAt(loaded, new AbortController().signal);
  return cache;
}

class FollowingCache implements Cache {
  readonly #engine: Engine;
  readonly #index: SortedEntries<CachedEntry>;
  readonly #history: History;
  readonly #watchers: Watchers;
  readonly #locks = new KeyLocks();
  readonly #waits = new RevisionWaits();
  readonly #freshness = new SharedCheck(async () => this.#becomesVisible(await this.#engine.revision()));
  /** Memos from writers, by the revision of their write, until the change arrives. */
  readonly #memos = new Map<number, unknown>();
  readonly #stop = new AbortController();
  readonly #following: Promise<void>;
  #bytes = 0;
  readonly #onError: (error: unknown) => void;
  /** Changes up to this revision may already be part of the scan. */
  readonly #loaded: number;
  readonly #historyBounds: { limit: number; maxBytes: number };
  /**
   * The history starts where this cache was opened, and can be extended backwards as long as the engine has more and
   * there is room.
   */
  #canRecall = true;
  #recalling: Promise<void> | undefined;
  #revision: number;
  #writing = 0;
  #failure: StoreError | undefined;

  constructor(engine: Engine, index: SortedEntries<CachedEntry>, start: number, loaded: number, options: CacheOptions) {
    const { historyLimit = 100_000, historyBytes = 64 * 1024 * 1024 } = options;
    this.#engine = engine;
    this.#index = index;
    for (const { value } of index.list("")) this.#bytes += value.byteLength;
    this.#revision = start;
    this.#loaded = loaded;
    this.#onError = options.onError ?? ((error) => process.emitWarning(`store cache: ${messageOf(error)}`));
    this.#historyBounds = { limit: historyLimit, maxBytes: historyBytes };
    this.#history = new History({ start: loaded, ...this.#historyBounds });
    this.#watchers = new Watchers(this.#onError);
    this.#following = this.#follow();
  }

  get revision(): number {
    return this.#revision;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get compacted(): number {
    return this.#history.compacted;
  }

  get(key: string): CachedEntry | undefined {
    return this.#index.get(key);
  }

  list(prefix: string, options?: { after?: string; limit?: number }): CachedEntry[] {
    return this.#index.list(prefix, options);
  }

  count(prefix: string): number {
    return this.#index.count(prefix);
  }

  async write(write: Write, memo?: unknown): Promise<Outcome> {
    this.#writing += 1;
    try {
      const outcome = await this.#engine.commit(write);
      if (outcome.ok && memo !== undefined && write.value !== null) this.#remember(write.key, outcome.revision, memo);
      // After a failure the caller reads again, and must see the change that failed its write. An absent key was deleted
      // at a revision that the engine does not report, so all changes are awaited.
      const revision =
        outcome.ok || outcome.failedGuard !== undefined
          ? outcome.revision
          : (outcome.current?.revision ?? (await this.#engine.revision()));
      if (revision > this.#revision) await this.#becomesVisible(revision);
      return outcome;
    } finally {
      this.#writing -= 1;
    }
  }

  exclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.run(key, work);
  }

  watch(prefix: string, after: number, listener: Listener): () => void {
    const replay = this.#history.after(prefix, after);
    return this.#watchers.add(prefix, replay, Math.max(after, this.#revision), listener);
  }

  watchers(key: string): number {
    return this.#watchers.count(key);
  }

  eventsAfter(prefix: string, after: number): readonly CacheEvent[] {
    return this.#history.after(prefix, after);
  }

  recall(after: number): Promise<void> | undefined {
    return this.#isMissing(after) ? this.#recallTo(after) : undefined;
  }

  get isShared(): boolean {
    return this.#engine.isShared;
  }

  fresh(signal: AbortSignal): Promise<void> {
    return this.isShared ? abortable(this.#freshness.run(), signal) : Promise.resolve();
  }

  whenAt(revision: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (revision <= this.#revision) return Promise.resolve();
    if (this.#failure) return Promise.reject(this.#failure);
    return this.#waits.until(revision, signal);
  }

  isOutdated(key: string): boolean {
    return this.#engine.isOutdated?.(key) ?? false;
  }

  isQuiet(): boolean {
    return this.#writing === 0 && this.#watchers.isQuiet;
  }

  async close(): Promise<void> {
    this.#failure ??= new StoreError("the store cache is closed");
    this.#waits.fail(this.#failure);
    this.#stop.abort(this.#failure);
    await this.#following;
  }

  #isMissing(after: number): boolean {
    return this.#canRecall && after < this.#history.compacted;
  }

  async #recallTo(after: number): Promise<void> {
    // After a restart many watchers request the past. One reads; those that need more continue from there.
    while (this.#isMissing(after)) {
      this.#recalling ??= this.#extendHistory(after).finally(() => (this.#recalling = undefined));
      await this.#recalling;
    }
  }

  async #extendHistory(after: number): Promise<void> {
    const history = this.#history;
    const start = history.compacted;
    const past = await this.#readPast(after, start);
    if (!past) return;
    // The history may have dropped its beginning in the meantime, and then there is nothing to join the past to.
    if (history.compacted === start)
      history.prepend(eventsOf(past, history.after("/", start), (key) => this.#index.get(key)));
    this.#canRecall = history.compacted <= after;
  }

  /** Undefined when the past is damaged: then it counts as compacted, and the clients list again. */
  async #readPast(after: number, upTo: number): Promise<PastChange[] | undefined> {
    try {
      return await readPast(this.#engine, { after, upTo, ...this.#historyBounds });
    } catch (error) {
      if (!(error instanceof DamagedStoreError)) throw error;
      this.#canRecall = false;
      this.#onError(error);
      return undefined;
    }
  }

  async #becomesVisible(revision: number): Promise<void> {
    if (revision <= this.#revision) return;
    return this.#failure ? Promise.reject(this.#failure) : this.#waits.until(revision);
  }

  /** The change may have arrived before the response to its writer, and then the entry already exists. */
  #remember(key: string, revision: number, memo: unknown): void {
    if (revision > this.#revision) {
      this.#memos.set(revision, memo);
      return;
    }
    const entry = this.#index.get(key);
    if (entry?.revision === revision) entry.memo ??= memo;
  }

  async #follow(): Promise<void> {
    try {
      for await (const { changes, revision } of this.#engine.changes(this.#revision, this.#stop.signal)) {
        for (const change of changes) this.#apply(change);
        this.#waits.reached((this.#revision = revision));
      }
    } catch (error) {
      this.#failure ??= new StoreError("the cache can no longer follow the store; restart to load it again", {
        cause: error,
      });
      this.#waits.fail(this.#failure);
      if (!this.#stop.signal.aborted) this.#onError(this.#failure);
    }
  }

  #apply({ key, revision, value }: Change): void {
    const previous = this.#index.get(key);
    const memo = this.#memos.get(revision);
    if (memo !== undefined) this.#memos.delete(revision);
    if (previous && previous.revision >= revision) return;
    if (value === null && !previous) return;

    // The key of the previous entry is an equal string, so the new one need not be retained.
    const entry = value === null ? undefined : { key: previous?.key ?? key, revision, value, memo };
    if (entry) this.#index.set(entry);
    else this.#index.delete(key);
    this.#bytes += (value?.byteLength ?? 0) - (previous?.value.byteLength ?? 0);
    if (revision <= this.#loaded) return;

    const event: CacheEvent = { revision, entry, previous };
    this.#history.append(event);
    this.#watchers.publish(event);
  }
}
