/**
 * The newest changes of an engine in memory, and their followers. Engines append durable changes; every follower reads
 * at its own pace. A follower that falls behind the limit reads `older` changes, from disk where available.
 */
import { CompactedError } from "./errors.ts";
import type { Change, ChangeBatch } from "./engine.ts";

/** Small enough that handling a batch does not block the event loop. */
const BATCH_LIMIT = 1024;

export interface ChangeLogOptions {
  /** The revision after which changes are appended here. */
  start: number;
  limit: number;
  /**
   * Changes after a revision that are no longer in this log, oldest first and at least one. Throws `CompactedError`
   * when they were compacted.
   */
  older?: (after: number) => Promise<Change[]>;
}

export class ChangeLog<Kept extends Change = Change> {
  readonly #limit: number;
  readonly #older: (after: number) => Promise<Change[]>;
  #changes: Kept[] = [];
  /** Index of the oldest valid change; those before it are dropped in bulk. */
  #head = 0;
  #forgotten: number;
  #waiting: ((newChanges: readonly Change[]) => void)[] = [];
  #failure: Error | undefined;

  constructor({ start, limit, older }: ChangeLogOptions) {
    this.#forgotten = start;
    this.#limit = limit;
    this.#older = older ?? ((after) => Promise.reject(new CompactedError(after, this.#forgotten + 1)));
  }

  /** The changes must be newer than all previously appended ones, in order. */
  append(changes: readonly Kept[]): void {
    for (const change of changes) this.#changes.push(change);
    const surplus = this.#changes.length - this.#head - this.#limit;
    if (surplus > 0) this.#drop(surplus);
    this.#wakeAll(changes);
  }

  /** Drops changes up to and including `revision`. */
  forget(revision: number): void {
    if (revision <= this.#forgotten) return;
    this.#drop(this.#indexAfter(revision) - this.#head);
    this.#forgotten = revision;
  }

  /** The retained changes up to and including `revision`, newest first. */
  backwards(revision: number): Kept[] {
    return this.#changes.slice(this.#head, this.#indexAfter(revision)).reverse();
  }

  /** Ends every follower with this error, now and later, after the appended changes. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#wakeAll([]);
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<ChangeBatch, void, undefined> {
    let cursor = after;
    let batch: Change[] = [];
    let wake = (_newChanges: readonly Change[]): void => {};
    const stop = (): void => wake([]);
    signal.addEventListener("abort", stop);
    try {
      while (!signal.aborted) {
        if (batch.length === 0) batch = cursor < this.#forgotten ? await this.#older(cursor) : this.#after(cursor);
        const last = batch.at(-1);
        if (last) {
          cursor = last.revision;
          yield { changes: batch, revision: cursor };
          batch = [];
          continue;
        }
        if (this.#failure) throw this.#failure;
        // Up-to-date followers receive the new changes directly, so a short log never loses a follower that keeps pace.
        const newChanges = await new Promise<readonly Change[]>((resolve) => {
          wake = resolve;
          this.#waiting.push(resolve);
        });
        batch = newChanges.filter(({ revision }) => revision > cursor);
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #after(revision: number): Change[] {
    const from = this.#indexAfter(revision);
    return this.#changes.slice(from, from + BATCH_LIMIT);
  }

  /**
   * Index of the first change with a higher revision. Followers are nearly always at the end, so that is checked first.
   */
  #indexAfter(revision: number): number {
    const newest = this.#changes.at(-1);
    if (!newest || newest.revision <= revision) return this.#changes.length;
    let low = this.#head;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #drop(count: number): void {
    if (count <= 0) return;
    this.#head += count;
    this.#forgotten = this.#changes[this.#head - 1]?.revision ?? this.#forgotten;
    // Moving the rest costs as much as was dropped since the last time, so an append stays cheap on average.
    if (this.#head * 2 >= this.#changes.length) {
      this.#changes = this.#changes.slice(this.#head);
      this.#head = 0;
    }
  }

  #wakeAll(newChanges: readonly Change[]): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake(newChanges);
  }
}
