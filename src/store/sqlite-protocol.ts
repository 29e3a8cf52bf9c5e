/**
 * The messages between the event loop and the SQLite worker. Writes are sent in batches with all their bytes in one
 * buffer, which is transferred; responses carry bytes only where the event loop does not already have them.
 */
import type { Change, Entry, PastChange, Write } from "./engine.ts";

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

/** The expectation failed. */
export const EXPECTATION_FAILED = 0;
export const CHANGED = 1;
/** Deletion of an absent key: succeeds, and takes no revision. */
export const UNCHANGED = 2;

export interface Committed {
  type: "committed";
  verdicts: Uint8Array;
  /** The revision of each write, or the current one where it got none. */
  revisions: Float64Array;
  /** By index of the write: the current entry when the expectation failed. */
  current: Map<number, Entry>;
  /**
   * Buffers of received writes, returned for reuse: new ones for every message would keep the garbage collector busy.
   */
  spares: ArrayBuffer[];
}

export type FromWorker =
  | { type: "ready"; revision: number }
  /** The store could not be opened; the worker exits. */
  | { type: "unusable"; message: string }
  | Committed
  /** These writes, the next `count` in order, were rolled back. */
  | { type: "rolled-back"; count: number; message: string }
  | { type: "answer"; id: number; answer: Answer }
  /** `oldest` is set when the requested changes are compacted. */
  | { type: "refusal"; id: number; message: string; oldest?: number };

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
    expects[index] = expect === "any" ? EXPECT_ANY : expect === "absent" ? EXPECT_ABSENT : expect;
    lengths[index] = value ? value.byteLength : DELETION;
    if (!value) continue;
    bytes.set(value, offset);
    offset += value.byteLength;
  }
  return { type: "commit", keys, expects, lengths, bytes };
}

export function unpackWrites({ keys, expects, lengths, bytes }: WriteBatch): Write[] {
  let offset = 0;
  return keys.map((key, index) => {
    const expected = expects[index] ?? EXPECT_ANY;
    const expect = expected === EXPECT_ANY ? "any" : expected === EXPECT_ABSENT ? "absent" : expected;
    const length = lengths[index] ?? DELETION;
    if (length === DELETION) return { key, expect, value: null };
    offset += length;
    return { key, expect, value: bytes.subarray(offset - length, offset) };
  });
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
