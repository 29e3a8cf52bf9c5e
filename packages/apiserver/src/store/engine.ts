/**
 * An `Engine` stores bytes: compare-and-set per key, one revision per write, ordered changes. Memory and SQLite in a
 * worker thread, and etcd, are engines under one contract suite (`test/contract/engine.ts`).
 *
 * Nothing is visible above it before it is durable: the cache is fed by `changes` alone.
 */
export interface Entry {
  key: string;
  /** The revision of the write that created this value. */
  revision: number;
  value: Uint8Array;
}

/**
 * A condition of a write on another key: that it is unchanged since the writer read it. What a writer concluded from
 * the other entry (a namespace is not being deleted) then still holds when the write is decided, whichever process wrote
 * in the meantime.
 */
export interface Guard {
  key: string;
  /** The revision that must be current, or `absent` for a key that must not exist. */
  expect: number | "absent";
}

export interface Write {
  key: string;
  /** The revision that must be current, `absent` for a key that must not exist, `any` for an unconditional write. */
  expect: number | "absent" | "any";
  /**
   * `null` deletes. Deleting an absent key with `any` succeeds and takes no revision: the outcome carries the current
   * one. The engine keeps the bytes without a copy: callers must not modify them afterwards.
   */
  value: Uint8Array | null;
  /** Other keys that must be unchanged. They are checked in the same decision as `expect`, after it. */
  guards?: readonly Guard[];
}

/**
 * `current` is the entry that failed `expect`, if the key exists. `failedGuard` is the key of the first guard that
 * failed; the change that failed it has at most the given revision, and a reader that has seen this revision has seen
 * that change.
 */
export type Outcome =
  | { ok: true; revision: number }
  | { ok: false; current?: Entry; failedGuard?: undefined }
  | { ok: false; current?: undefined; failedGuard: string; revision: number };

export interface Change {
  key: string;
  /** Strictly increasing over all keys; never reused, even after a restart. */
  revision: number;
  /** `null` when the key was deleted. */
  value: Uint8Array | null;
}

/**
 * A past change, recorded by the value it replaced. Its new value is the one that the key's next change replaced, or is
 * still current, so a reader that proceeds backwards from the present has both, and each value is read once.
 */
export interface PastChange {
  key: string;
  revision: number;
  /** Undefined when the key was new. */
  previous: Entry | undefined;
}

/** Changes in order, and progress: everything up to `revision` was delivered with this batch or before it. */
export interface ChangeBatch {
  /** Empty when only other keys changed, which are not part of this store. */
  changes: readonly Change[];
  revision: number;
}

export interface Engine {
  /** Whether other processes write too, so that a cache may be behind what they have acknowledged. */
  readonly isShared: boolean;
  /**
   * Resolves when the write is durable and has a revision, or when the expectation or a guard failed; a failed write
   * changes nothing. Calls are grouped into one commit and decided in the order of the calls: earlier writes of the
   * same group count for expectations and guards. Rejects with `StoreError` when the engine is
   * closed or broken, and then the write may or may not have happened.
   */
  commit(write: Write): Promise<Outcome>;
  /**
   * All entries under `prefix`, in key order, in batches, as of the time of the call. An engine may hold resources for
   * it until it is iterated to its end or left with `break`.
   */
  scan(prefix: string): AsyncIterable<Entry[]>;
  /**
   * Durable changes after a revision, in order, without gaps, including those of other processes; continues until
   * `signal` is aborted. After `revision` returned a number, a follower is brought up to it, also when the changes up to
   * there are none of this store's. Throws `CompactedError` when they are no longer available.
   */
  changes(after: number, signal: AbortSignal): AsyncIterable<ChangeBatch>;
  /**
   * Changes up to and including a revision, newest first, in batches, without gaps, as far back as they are available.
   */
  past(upTo: number): AsyncIterable<PastChange[]>;
  /** The newest durable revision; 0 when nothing was ever written. */
  revision(): Promise<number>;
  /** Whether the store answers; unset for one in this process. */
  isReachable?(): boolean;
  /** Drops changes up to and including a revision. Current values are kept. */
  compact(revision: number): Promise<void>;
  /** Writes a consistent copy to a file that an engine of this type can be opened on. */
  snapshot(path: string): Promise<void>;
  /** Whether the value of a key is stored in a form that the next write replaces: with another key, for example. */
  isOutdated?(key: string): boolean;
  /** Waits for accepted writes, then releases files and threads. */
  close(): Promise<void>;
}
