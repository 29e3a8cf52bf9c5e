/**
 * The in-memory engine for disposable hubs and for tests: a Map with the behaviour of the durable engines. Commits are
 * decided in groups in a later tick, so code that works here works there.
 */
import { setImmediate } from "node:timers";
import { ChangeLog } from "./change-log.ts";
import type { Change, Engine, Entry, Outcome, PastChange, Write } from "./engine.ts";
import { StoreError } from "./errors.ts";
import { checkWrite, failedGuard, isExpected } from "./write-rules.ts";

/** Limits the duration of one tick, and how far a follower can fall behind before its turn. */
const GROUP_LIMIT = 1024;
const BATCH_LIMIT = 512;

/**
 * The replaced value is kept with a change: nearly always the value of an earlier change, which the log retains anyway.
 */
type KeptChange = Change & PastChange;

interface PendingCommit {
  write: Write;
  resolve(outcome: Outcome): void;
}

export interface MemoryEngineOptions {
  /** How many changes are kept for `changes`. */
  historyLimit?: number;
  /** Set where several caches use this engine, as several API servers use etcd. */
  isShared?: boolean;
}

export function createMemoryEngine({ historyLimit = 10_000, isShared = false }: MemoryEngineOptions = {}): Engine {
  const entries = new Map<string, Entry>();
  const log = new ChangeLog<KeptChange>({ start: 0, limit: historyLimit });
  let revision = 0;
  let queue: PendingCommit[] = [];
  let isScheduled = false;
  let isClosed = false;
  const whenIdle: (() => void)[] = [];

  const closedError = (): StoreError => new StoreError("the memory store is closed; open a new one");

  const revisionOf = (key: string): number | undefined => entries.get(key)?.revision;

  function decide({ key, expect, value, guards }: Write, changes: KeptChange[]): Outcome {
    const current = entries.get(key);
    if (!isExpected(expect, current?.revision)) return current ? { ok: false, current } : { ok: false };
    const failed = guards && failedGuard(guards, revisionOf);
    if (failed !== undefined) return { ok: false, failedGuard: failed, revision };
    if (value === null && !current) return { ok: true, revision };
    revision += 1;
    if (value === null) entries.delete(key);
    else entries.set(key, { key, revision, value });
    changes.push({ key, revision, value, previous: current });
    return { ok: true, revision };
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    const group = queue.length <= GROUP_LIMIT ? queue : queue.slice(0, GROUP_LIMIT);
    queue = queue.length <= GROUP_LIMIT ? [] : queue.slice(GROUP_LIMIT);
    const changes: KeptChange[] = [];
    const outcomes = group.map(({ write }) => decide(write, changes));
    if (changes.length > 0) log.append(changes);
    group.forEach(({ resolve }, index) => resolve(outcomes[index] as Outcome));
    if (queue.length > 0) return schedule();
    for (const resolve of whenIdle.splice(0)) resolve();
  }

  async function* batches<T>(found: readonly T[]): AsyncGenerator<T[], void, undefined> {
    for (let start = 0; start < found.length; start += BATCH_LIMIT) yield found.slice(start, start + BATCH_LIMIT);
  }

  return {
    isShared,
    commit(write) {
      return new Promise((resolve, reject) => {
        if (isClosed) return reject(closedError());
        checkWrite(write);
        queue.push({ write, resolve });
        schedule();
      });
    },
    scan(prefix) {
      if (isClosed) throw closedError();
      const found = [...entries.values()].filter(({ key }) => key.startsWith(prefix));
      return batches(found.sort((a, b) => (a.key < b.key ? -1 : 1)));
    },
    changes: (after, signal) => log.follow(after, signal),
    past(upTo) {
      if (isClosed) throw closedError();
      return batches(log.backwards(upTo));
    },
    revision: () => (isClosed ? Promise.reject(closedError()) : Promise.resolve(revision)),
    async compact(upTo) {
      if (isClosed) throw closedError();
      log.forget(Math.min(upTo, revision));
    },
    snapshot: () =>
      Promise.reject(new StoreError("the memory store cannot write a snapshot; use the SQLite store to keep data")),
    async close() {
      isClosed = true;
      if (isScheduled) await new Promise<void>((resolve) => whenIdle.push(resolve));
      entries.clear();
      log.fail(closedError());
    },
  };
}
