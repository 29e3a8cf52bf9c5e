/**
 * The messages between the event loop and the SQLite worker. Writes are sent in batches with all their bytes in one
 * buffer, which is transferred; responses carry bytes only where the event loop does not already have them.
 */
import type { Change, Entry, Guard, PastChange, Write } from "./engine.ts";

/** The expectation of a commit, as a number: a revision is at least 1. */
const EXPECT_ABSENT = 0;
const EXPECT_ANY = -1;
const DELETION = -1;

/** Writes in decision order. */
export interface WriteBatch {
  type: "commit";
  keys: string[];
  expects: Float64Array;
  /** Length of each value, `DELETION` for a deletion. */
  lengths: Int32Array;
  bytes: Uint8Array<ArrayBuffer>;
  /** The guards of all writes in one sequence, and how many of them each write has; unset when no write has guards. */
  guards?: { counts: Uint8Array; keys: string[]; expects: Float64Array };
}

export type Query =
  | { type: "changes"; after: number; limit: number }
  | { type: "past"; upTo: number }
  | { type: "scan"; prefix: string }
  | { type: "scan-next"; scan: number }
  | { type: "scan-end"; scan: number }
  | { type: "compact"; revision: number }
  | { type: "close" };

/** Everything but commits is a query with one response. */
export type ToWorker = WriteBatch | { type: "query"; id: number; query: Query };

export type Verdict = typeof EXPECTATION_FAILED | typeof CHANGED | typeof UNCHANGED | typeof GUARD_FAILED;
/** The expectation failed. */
export const EXPECTATION_FAILED = 0;
export const CHANGED = 1;
/** Deletion of an absent key: succeeds, and takes no revision. */
export const UNCHANGED = 2;
export const GUARD_FAILED = 3;

export interface Committed {
  type: "committed";
  verdicts: Uint8Array;
  /** The revision of each write, or the current one where it got none. */
  revisions: Float64Array;
  /** By index of the write: the current entry when the expectation failed. */
  current: Map<number, Entry>;
  /** By index of the write: the key of the guard that failed. */
  failedGuards: Map<number, string>;
  /**
   * Buffers of received writes, returned for reuse: new ones for every message would keep the garbage collector busy.
   */
  spares: ArrayBuffer[];
}

export type FromWorker =
  | { type: "ready"; revision: number }
  /** The store could not be opened; the worker exits. */
  | { type: "unusable"; message: string; isDamaged: boolean }
  | Committed
  /** These writes, the next `count` in order, were rolled back. */
  | { type: "rolled-back"; count: number; message: string }
  | { type: "answer"; id: number; answer: Answer }
  /** `oldest` is set when the requested changes are compacted. */
  | { type: "refusal"; id: number; message: string; oldest?: number; isDamaged?: boolean };

/** Entries with all their bytes in one buffer: transferring a buffer for each would take longer than reading them. */
export interface EntryPage {
  keys: string[];
  revisions: Float64Array;
  lengths: Int32Array;
  bytes: Uint8Array<ArrayBuffer>;
}

export type Answer =
  | { changes: Change[] }
  | { past: PastChange[] }
  | { scan: number; page: EntryPage; isLast: boolean }
  | null;

/** Packs into the spare buffer if it is large enough. */
export function packWrites(writes: readonly Write[], spare?: ArrayBuffer): WriteBatch {
  const keys: string[] = [];
  const expects = new Float64Array(writes.length);
  const lengths = new Int32Array(writes.length);
  const total = writes.reduce((sum, { value }) => sum + (value?.byteLength ?? 0), 0);
  const bytes = spare && spare.byteLength >= total ? new Uint8Array(spare, 0, total) : new Uint8Array(total);
  let offset = 0;
  for (const [index, { key, expect, value }] of writes.entries()) {
    keys.push(key);
    expects[index] = packExpectation(expect);
    lengths[index] = value ? value.byteLength : DELETION;
    if (!value) continue;
    bytes.set(value, offset);
    offset += value.byteLength;
  }
  return { type: "commit", keys, expects, lengths, bytes, guards: packGuards(writes) };
}

const packExpectation = (expect: Write["expect"]): number =>
  expect === "any" ? EXPECT_ANY : expect === "absent" ? EXPECT_ABSENT : expect;

function packGuards(writes: readonly Write[]): WriteBatch["guards"] {
  const keys: string[] = [];
  const expects: number[] = [];
  const counts = new Uint8Array(writes.length);
  for (const [index, { guards }] of writes.entries()) {
    if (!guards) continue;
    counts[index] = guards.length;
    for (const { key, expect } of guards) {
      keys.push(key);
      expects.push(packExpectation(expect));
    }
  }
  return keys.length === 0 ? undefined : { counts, keys, expects: Float64Array.from(expects) };
}

export function unpackWrites({ keys, expects, lengths, bytes, guards }: WriteBatch): Write[] {
  let offset = 0;
  let guardOffset = 0;
  return keys.map((key, index): Write => {
    const expected = expects[index] ?? EXPECT_ANY;
    const expect = expected === EXPECT_ANY ? "any" : expected === EXPECT_ABSENT ? "absent" : expected;
    const length = lengths[index] ?? DELETION;
    const guardCount = guards?.counts[index] ?? 0;
    guardOffset += guardCount;
    offset += length === DELETION ? 0 : length;
    return {
      key,
      expect,
      value: length === DELETION ? null : bytes.subarray(offset - length, offset),
      guards: guards && guardCount > 0 ? unpackGuards(guards, guardOffset - guardCount, guardOffset) : undefined,
    };
  });
}

function unpackGuards({ keys, expects }: NonNullable<WriteBatch["guards"]>, start: number, end: number): Guard[] {
  return keys.slice(start, end).map((key, index) => ({ key, expect: expects[start + index] || "absent" }));
}

export function packEntries(entries: readonly Entry[]): EntryPage {
  const bytes = new Uint8Array(entries.reduce((sum, { value }) => sum + value.byteLength, 0));
  let offset = 0;
  for (const { value } of entries) {
    bytes.set(value, offset);
    offset += value.byteLength;
  }
  return {
    keys: entries.map(({ key }) => key),
    revisions: Float64Array.from(entries, ({ revision }) => revision),
    lengths: Int32Array.from(entries, ({ value }) => value.byteLength),
    bytes,
  };
}

/** Every value gets its own bytes: a long-lived value must not retain its whole page. */
export function unpackEntries({ keys, revisions, lengths, bytes }: EntryPage): Entry[] {
  let offset = 0;
  return keys.map((key, index) => {
    const start = offset;
    offset += lengths[index] ?? 0;
    return { key, revision: revisions[index] ?? 0, value: bytes.slice(start, offset) };
  });
}
