/**
 * An `Engine` is where bytes live: compare-and-set per key, one revision per write, ordered changes. Memory, SQLite in
 * a worker thread and etcd are three engines under one contract suite (`test/contract/engine.ts`).
 *
 * Nothing above it is visible before it is durable: the cache is fed by `changes` alone.
 */
export interface Entry {
  key: string;
  /** The revision of the write that made this value. */
  revision: number;
  value: Uint8Array;
}

export interface Write {
  key: string;
  /** The revision that must be current, `absent` for a key that must not exist, `any` for an unconditional write. */
  expect: number | "absent" | "any";
  /**
   * `null` deletes. Deleting an absent key with `any` succeeds and takes no revision: the outcome carries the current
   * one. The engine keeps the bytes as they are handed over, without a copy: nobody may change them afterwards.
   */
  value: Uint8Array | null;
}

export type Outcome = { ok: true; revision: number } | { ok: false; current?: Entry };

export interface Change {
  key: string;
  /** Strictly increasing over all keys; never reused, also after a restart. */
  revision: number;
  /** `null` when the key was deleted. */
  value: Uint8Array | null;
}

/**
 * A change as the past remembers it: by what it replaced. What it made is what the next change of the key replaced, or
 * is there still, so a reader who goes backwards from the present has both, and each value is read once.
 */
export interface PastChange {
  key: string;
  revision: number;
  /** Undefined when the key was new. */
  previous: Entry | undefined;
}

export interface Engine {
  /**
   * Resolves when the write is durable and has a revision, or when the expectation failed. Calls are grouped into one
   * commit; writes to one key are decided in the order of the calls. Rejects with `StoreError` when the engine is
   * closed or broken, and then the write may or may not have happened.
   */
  commit(write: Write): Promise<Outcome>;
  /**
   * Everything below `prefix`, in key order, in batches, as of the moment of the call. An engine may hold resources for
   * it until it is iterated to its end or left with `break`.
   */
  scan(prefix: string): AsyncIterable<Entry[]>;
  /**
   * Durable changes after a revision, in order, without gaps, those of other processes included; goes on until `signal`
   * is aborted. Throws `CompactedError` when they are no longer known.
   */
  changes(after: number, signal: AbortSignal): AsyncIterable<Change[]>;
  /** Changes up to and including a revision, newest first, in batches, without gaps, as far back as they are known. */
  past(upTo: number): AsyncIterable<PastChange[]>;
  /** The newest durable revision; 0 when nothing was ever written. */
  revision(): Promise<number>;
  /** Forgets changes up to and including a revision. Current values stay. */
  compact(revision: number): Promise<void>;
  /** Writes a consistent copy to a file that an engine of this type can be opened on. */
  snapshot(path: string): Promise<void>;
  /** Waits for what was accepted, then lets go of files and threads. */
  close(): Promise<void>;
}
