/**
 * A disk that outlives the processes that write to it. A write is a record of a log: it waits in the page cache until it
 * is flushed, and is decided, visible and acknowledged after that. At a crash every record that was not flushed is kept,
 * lost or torn by itself, in any order. What is found again ends before the first record that is not whole, as every log
 * with checksums ends. Faults: the next flush is slow, fails or is refused for lack of space, or is said to have
 * happened and did not.
 */
import { createMemoryEngine, StoreError, StoreWriteError } from "@flotilla/apiserver";
import type { Engine, Outcome, Write } from "@flotilla/apiserver";
import type { Random } from "@flotilla/base";

export interface StoredWrite {
  key: string;
  value: Uint8Array | null;
  revision: number;
}

export interface SimulatedDisk {
  /** Reads what the disk has, as a process does that starts. */
  open(): Promise<Engine>;
  /** The process is gone: nothing that it asks for happens any more. Resolves when what was in progress has its fate. */
  crash(): Promise<void>;
  /** What is asked for from now on stays in the page cache until the process crashes. */
  hold(): void;
  setFull(isFull: boolean): void;
  /** The next flush fails; the process must not rely on the disk from then on. */
  failNextFlush(): void;
  /** While it lies, a flush is reported and has not happened. */
  setLying(isLying: boolean): void;
  /** Whether an acknowledged write was ever lost because the disk lied. */
  readonly hasLostAcknowledged: boolean;
  readonly records: readonly StoredWrite[];
  counts: { kept: number; lost: number; torn: number; lied: number };
}

export interface DiskOptions {
  random: Random;
  onWrite(write: StoredWrite): void;
  /** Acknowledged records are gone: those from this index on. */
  onLost(from: number): void;
}

interface Pending {
  write: Write;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

const GONE = "the process that used this store has ended";

export function createSimulatedDisk({ random, onWrite, onLost }: DiskOptions): SimulatedDisk {
  const records: StoredWrite[] = [];
  const counts = { kept: 0, lost: 0, torn: 0, lied: 0 };
  let inner: Engine | undefined;
  let pending: Pending[] = [];
  let isHeld = false;
  let isFull = false;
  let failsNext = false;
  let isScheduled = false;
  /** Since the disk lies: the records before this one are on it. */
  let liesFrom: number | undefined;
  let hasLostAcknowledged = false;

  const carryOut = async (write: Write): Promise<Outcome> => {
    if (!inner) throw new StoreError(GONE);
    const before = await inner.revision();
    const outcome = await inner.commit(write);
    if (outcome.ok && outcome.revision > before) note(write, outcome.revision);
    return outcome;
  };
  const note = ({ key, value }: Write, revision: number): void => {
    const record = { key, value, revision };
    records.push(record);
    onWrite(record);
  };

  function flush(): void {
    isScheduled = false;
    const current = inner;
    if (isHeld || !current) return;
    const group = pending;
    pending = [];
    if (isFull || failsNext) {
      const error = isFull
        ? new StoreWriteError("cannot use the store: the disk is full; free some space to resume writes")
        : new StoreError("cannot use the store: a flush failed");
      failsNext = false;
      for (const { reject } of group) reject(error);
      return;
    }
    for (const { write, resolve, reject } of group) {
      current.commit(write).then((outcome) => {
        // A deletion of an absent key takes no revision.
        if (outcome.ok && outcome.revision > (records.at(-1)?.revision ?? 0)) note(write, outcome.revision);
        resolve(outcome);
      }, reject);
    }
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  /** Where the log ends that a process finds after a crash. */
  function endOfLog(length: number): number {
    for (let at = 0; at < length; at++) {
      const fate = random.next();
      if (fate < 0.6) counts.kept++;
      else {
        counts[fate < 0.8 ? "lost" : "torn"]++;
        return at;
      }
    }
    return length;
  }

  return {
    records,
    counts,
    get hasLostAcknowledged() {
      return hasLostAcknowledged;
    },
    async open() {
      const engine = createMemoryEngine();
      for (const { key, value } of records) void engine.commit({ key, value, expect: "any" });
      await engine.commit({ key: "/none", value: null, expect: "any" });
      inner = engine;
      isHeld = false;
      return {
        ...engine,
        commit(write) {
          if (inner !== engine) return Promise.reject(new StoreError(GONE));
          return new Promise((resolve, reject) => {
            pending.push({ write, resolve, reject });
            schedule();
          });
        },
        async close() {
          if (inner === engine) inner = undefined;
          await engine.close();
        },
      };
    },
    async crash() {
      const unflushed = pending;
      pending = [];
      isHeld = false;
      failsNext = false;
      const end = endOfLog(unflushed.length);
      for (const { write } of unflushed.slice(0, end)) await carryOut(write);
      inner = undefined;
      for (const { reject } of unflushed) reject(new StoreError(GONE));
      if (liesFrom === undefined) return;
      const from = liesFrom + Math.floor(random.next() * (records.length - liesFrom + 1));
      if (from < records.length) {
        counts.lied += records.length - from;
        hasLostAcknowledged = true;
        records.length = from;
        onLost(from);
      }
      liesFrom = records.length;
    },
    hold: () => void (isHeld = true),
    setFull: (now) => void (isFull = now),
    failNextFlush: () => void (failsNext = true),
    setLying: (now) => void (liesFrom = now ? (liesFrom ?? records.length) : undefined),
  };
}
