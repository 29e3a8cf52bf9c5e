/**
 * The cache above an engine: every current entry in key order, recent history, and the watchers. It is fed only by the
 * engine's `changes`, so nothing is visible before it is durable, and writes of other processes arrive through the same
 * path.
 */
import type { Entry, Outcome, Write } from "./engine.ts";

/**
 * A current value. `memo` holds values computed from the bytes (parsed form, rendered responses); it is removed with
 * the entry, and dropped from replaced entries that only the history still holds.
 */
export interface CachedEntry extends Entry {
  memo?: unknown;
}

export interface CacheEvent {
  revision: number;
  /** The new value; undefined when the key was deleted. */
  entry?: CachedEntry;
  /** The previous value; undefined when the key is new. */
  previous?: CachedEntry;
}

export interface Cache {
  /** Everything up to this revision is visible. */
  readonly revision: number;
  /**
   * The newest revision whose changes are not in the history. `recall` loads those from before this cache was opened.
   */
  readonly compacted: number;
  get(key: string): CachedEntry | undefined;
  /** Entries under `prefix` in key order, at most `limit`, only those after the key `after`. */
  list(prefix: string, options?: { after?: string; limit?: number }): CachedEntry[];
  count(prefix: string): number;
  /** The size of all current values. */
  readonly bytes: number;
  /**
   * Commits, and resolves when the outcome is visible here (read your writes): the new entry, or the change that failed
   * the expectation or a guard. `memo` becomes the new entry's memo,
   * which saves parsing a value that the writer already has.
   */
  write(write: Write, memo?: unknown): Promise<Outcome>;
  /**
   * Runs `work` while no other `exclusive` of the same key runs: a second read-modify-write waits for the first. Not
   * reentrant.
   */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /**
   * Calls back with changes under `prefix` after a revision, those of the history first, in order, without gaps, in
   * batches and never in the caller's tick. A prefix ends with `/`. Throws `CompactedError` when they are no longer in
   * the history. The cost of an event grows with the watchers of its resource and cluster, not with all watchers.
   */
  watch(prefix: string, after: number, listener: (events: readonly CacheEvent[]) => void): () => void;
  /** How many watches are notified of a change of this key. */
  watchers(key: string): number;
  /**
   * Changes under `prefix` after a revision, in order, as far as they are visible. Throws `CompactedError` when they
   * are no longer in the history.
   */
  eventsAfter(prefix: string, after: number): readonly CacheEvent[];
  /**
   * Resolves when the changes after a revision are in the history or can no longer be. Those from before this cache was
   * opened are read from the engine on first request, so that a watcher continues across a restart. Undefined when
   * there is nothing to wait for. Rejects with `StoreError` when the engine fails.
   */
  recall(after: number): Promise<void> | undefined;
  /** Whether other processes write to the store, so that what they acknowledged may not be visible yet. */
  readonly isShared: boolean;
  /**
   * Resolves when everything that any process had written before this call is visible. Rejects with `StoreError` when the
   * store does not answer, and with the signal's reason.
   */
  fresh(signal: AbortSignal): Promise<void>;
  /** Resolves when `revision` is visible; rejects with the signal's reason. */
  whenAt(revision: number, signal: AbortSignal): Promise<void>;
  /** Whether a write that changes nothing is needed to store the value in its present form. */
  isOutdated(key: string): boolean;
  /** True when every accepted write is visible and every watcher was notified. */
  isQuiet(): boolean;
  /** Stops following. The engine stays open: its opener closes it afterwards. */
  close(): Promise<void>;
}
