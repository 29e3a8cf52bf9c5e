/**
 * What a hub sends to its standby: lines of JSON, each with one change or with how far the standby is. A standby that has a
 * copy names its revision and gets what follows; any other one gets everything, and then what follows.
 */
import type { Change, Engine } from "../store/engine.ts";
import { CompactedError, StoreError } from "../store/errors.ts";
import { SUCCESSION_PREFIX } from "./succession.ts";

export type ReplicationLine =
  /** Everything follows; a copy that the standby has is of no use. */
  | { type: "COPY"; term: number }
  /** What follows continues the copy that the standby has. */
  | { type: "CONTINUE"; term: number }
  /** `value` is base64; null deletes. */
  | { type: "CHANGE"; key: string; revision: number; value: string | null }
  /** With what was sent, the standby has everything up to here. The first one ends a copy. */
  | { type: "REVISION"; revision: number }
  /** The hub still runs, and nothing has changed. */
  | { type: "ALIVE" };

/** Lines are sent together up to about this size. */
const CHUNK_CHARACTERS = 256 * 1024;
/** A line is an object of at most 1.5 MiB in base64. */
export const MAX_LINE_CHARACTERS = 8 * 1024 * 1024;

export async function* replicationLines(
  engine: Engine,
  { after, term }: { after: number | undefined; term: number },
  signal: AbortSignal,
): AsyncGenerator<ReplicationLine[], void, undefined> {
  if (after !== undefined && (await hasChanges(engine, after))) {
    yield [{ type: "CONTINUE", term }];
    yield* linesAfter(engine, after, 0, signal);
    return;
  }
  const start = await engine.revision();
  yield [{ type: "COPY", term }];
  for await (const batch of engine.scan(""))
    yield batch.filter(isCopied).map(({ key, revision, value }) => lineOf({ key, revision, value }));
  // The scan may have later values of some keys: the copy is of one moment when what happened meanwhile was sent, too.
  yield* linesAfter(engine, start, await engine.revision(), signal);
}

/** `least` is the revision below which the copy is of no moment. */
async function* linesAfter(
  engine: Engine,
  after: number,
  least: number,
  signal: AbortSignal,
): AsyncGenerator<ReplicationLine[], void, undefined> {
  if (after >= least) yield [{ type: "REVISION", revision: after }];
  for await (const { changes, revision } of engine.changes(after, signal)) {
    const lines = changes.filter(isCopied).map(lineOf);
    if (revision >= least) lines.push({ type: "REVISION", revision });
    yield lines;
  }
}

/** The changes after a revision up to and including another. Throws `CompactedError`, and `StoreError` for too many. */
export async function linesBetween(
  engine: Engine,
  after: number,
  upTo: number,
  maxBytes: number,
): Promise<ReplicationLine[]> {
  const found: ReplicationLine[] = [];
  if (after >= upTo) return found;
  const ended = new AbortController();
  let bytes = 0;
  for await (const { changes, revision } of engine.changes(after, ended.signal)) {
    for (const change of changes)
      if (isCopied(change) && change.revision <= upTo) {
        found.push(lineOf(change));
        bytes += change.value?.byteLength ?? 0;
      }
    if (bytes > maxBytes) throw new StoreError("the standby is too far behind");
    if (revision >= upTo) break;
  }
  ended.abort();
  return found;
}

async function hasChanges(engine: Engine, after: number): Promise<boolean> {
  const newest = await engine.revision();
  if (after > newest) return false; // A copy of another store.
  if (after === newest) return true;
  const ended = new AbortController();
  try {
    for await (const _ of engine.changes(after, ended.signal)) return true;
    return true;
  } catch (error) {
    if (error instanceof CompactedError) return false;
    throw error;
  } finally {
    ended.abort();
  }
}

const isCopied = ({ key }: { key: string }): boolean => !key.startsWith(SUCCESSION_PREFIX);

const lineOf = ({ key, revision, value }: Change): ReplicationLine => ({
  type: "CHANGE",
  key,
  revision,
  value: value === null ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64"),
});

/** The lines as bytes, in chunks. */
export function* encodeLines(lines: readonly ReplicationLine[]): Generator<Uint8Array> {
  let text = "";
  for (const line of lines) {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(text);
    text = "";
  }
  if (text !== "") yield Buffer.from(text);
}
