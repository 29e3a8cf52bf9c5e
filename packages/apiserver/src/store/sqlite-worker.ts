/**
 * The thread of SQLite, so that the event loop never waits for a disk.
 *
 * Group commit: all batches that arrived during the last transaction are part of the next one, up to a limit. After a
 * failure that leaves the state on disk unknown the thread exits, which rejects every pending promise of the engine.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { messageOf, required } from "@flotilla/base";
import type { Entry, Write } from "./engine.ts";
import { CompactedError, DamagedStoreError, StoreError } from "./errors.ts";
import { SqliteDatabase, type Scan, type SqliteDatabaseOptions } from "./sqlite-database.ts";
import { explained, isTemporary } from "./sqlite-failures.ts";
import {
  packEntries,
  unpackWrites,
  type Answer,
  type FromWorker,
  type Query,
  type ToWorker,
  type WriteBatch,
} from "./sqlite-protocol.ts";

const GROUP_WRITES = 1024;
const GROUP_BYTES = 16 * 1024 * 1024;
/** A page of a scan or of the past. */
const PAGE_ENTRIES = 512;
const PAGE_BYTES = 256 * 1024;
/** For a scan, which is requested ahead: fewer pages mean less time spent on messages. */
const SCAN_BYTES = 1024 * 1024;

const port = required(parentPort, "the port to the event loop");
const options = workerData as SqliteDatabaseOptions;
const scans = new Map<number, Scan>();
let scanSequence = 0;
let isSweeping = false;

function say(message: FromWorker, transfer: readonly ArrayBufferLike[] = []): void {
  port.postMessage(message, transfer as ArrayBuffer[]);
}

function open(): SqliteDatabase | undefined {
  try {
    return new SqliteDatabase(options);
  } catch (error) {
    say({
      type: "unusable",
      message: error instanceof StoreError ? error.message : messageOf(error),
      isDamaged: error instanceof DamagedStoreError,
    });
    return undefined;
  }
}

function takeMessage(): ToWorker | undefined {
  return receiveMessageOnPort(port)?.message as ToWorker | undefined;
}

/** Commits this batch together with those queued behind it. Returns the first message that is not part of the group. */
function commitGroup(database: SqliteDatabase, first: WriteBatch): ToWorker | undefined {
  const writes: Write[] = unpackWrites(first);
  const spares = [first.bytes.buffer];
  let bytes = first.bytes.byteLength;
  let next: ToWorker | undefined;
  while (writes.length < GROUP_WRITES && bytes < GROUP_BYTES) {
    next = takeMessage();
    if (next?.type !== "commit") break;
    writes.push(...unpackWrites(next));
    spares.push(next.bytes.buffer);
    bytes += next.bytes.byteLength;
    next = undefined;
  }
  try {
    const committed = database.commit(writes);
    say({ ...committed, spares }, [...spares, ...buffersOf(committed.current.values())]);
  } catch (error) {
    const { message } = explained(options.path, error);
    say({ type: "rolled-back", count: writes.length, message });
    if (!isTemporary(error)) throw error;
  }
  return next ?? takeMessage();
}

function answer(database: SqliteDatabase, query: Query): Answer {
  switch (query.type) {
    case "changes":
      return { changes: database.changes(query.after, query.limit) };
    case "past":
      return { past: database.past(query.upTo, { changes: PAGE_ENTRIES, bytes: PAGE_BYTES }) };
    case "scan": {
      const scan = ++scanSequence;
      scans.set(scan, database.openScan(query.prefix));
      return nextEntries(scan);
    }
    case "scan-next":
      return nextEntries(query.scan);
    case "scan-end":
      endScan(query.scan);
      return null;
    case "compact":
      database.compact(query.revision);
      return null;
    default:
      for (const scan of scans.keys()) endScan(scan);
      database.close();
      return null;
  }
}

function nextEntries(id: number): Answer {
  const scan = required(scans.get(id), "the scan");
  const entries: Entry[] = [];
  let bytes = 0;
  while (entries.length < PAGE_ENTRIES && bytes < SCAN_BYTES) {
    const entry = nextEntry(id, scan);
    if (!entry) {
      endScan(id);
      return { scan: id, page: packEntries(entries), isLast: true };
    }
    entries.push(entry);
    bytes += entry.value.byteLength;
  }
  return { scan: id, page: packEntries(entries), isLast: false };
}

/** A scan that fails is not continued. */
function nextEntry(id: number, scan: Scan): Entry | undefined {
  try {
    return scan.next();
  } catch (error) {
    endScan(id);
    throw error;
  }
}

function endScan(id: number): void {
  scans.get(id)?.close();
  scans.delete(id);
}

function reply(database: SqliteDatabase, id: number, query: Query): void {
  try {
    const result = answer(database, query);
    say({ type: "answer", id, answer: result }, result ? buffersIn(result) : []);
  } catch (error) {
    if (error instanceof CompactedError) say({ type: "refusal", id, message: error.message, oldest: error.oldest });
    else {
      const failure = explained(options.path, error);
      say({ type: "refusal", id, message: failure.message, isDamaged: failure instanceof DamagedStoreError });
    }
  }
  if (query.type === "close") port.close();
}

function buffersIn(result: NonNullable<Answer>): readonly ArrayBufferLike[] {
  if ("page" in result) return [result.page.bytes.buffer];
  return buffersOf("past" in result ? result.past.flatMap(({ previous }) => previous ?? []) : result.changes);
}

function buffersOf(items: Iterable<{ value: Uint8Array | null }>): ArrayBufferLike[] {
  const buffers: ArrayBufferLike[] = [];
  for (const { value } of items) if (value && value.byteLength > 0) buffers.push(value.buffer);
  return buffers;
}

/** Removes rows of compacted changes when there is nothing else to do. */
function sweepWhenIdle(database: SqliteDatabase): void {
  if (isSweeping || !database.needsSweep) return;
  isSweeping = true;
  setImmediate(() => {
    isSweeping = false;
    if (database.isOpen && sweepOnce(database)) sweepWhenIdle(database);
  });
}

/** False when it is not possible now: then the rows stay until a later commit sweeps them. */
function sweepOnce(database: SqliteDatabase): boolean {
  try {
    database.sweep();
    return true;
  } catch (error) {
    if (isTemporary(error)) return false;
    throw error;
  }
}

const database = open();
if (database) {
  port.on("message", (first: ToWorker) => {
    for (let message: ToWorker | undefined = first; message;) {
      if (message.type === "commit") {
        message = commitGroup(database, message);
      } else {
        reply(database, message.id, message.query);
        message = takeMessage();
      }
    }
    if (database.isOpen) sweepWhenIdle(database);
  });
  say({ type: "ready", revision: database.revision });
} else {
  port.close();
}
