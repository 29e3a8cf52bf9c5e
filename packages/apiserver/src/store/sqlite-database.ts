/**
 * The tables of the SQLite store and their operations. Synchronous: it runs in the worker thread.
 *
 * `changes` is an append-only log and holds every value once. `current` maps a key to the row of its value, so a write
 * appends one row and updates one small one. A change references the row it replaced: after compaction, that row and
 * the rows of deletions are swept, a few with each commit, so that only current values remain.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { messageOf, required } from "@flotilla/base";
import type { Change, Entry, Guard, PastChange, Write } from "./engine.ts";
import { CompactedError, StoreError } from "./errors.ts";
import { createPrivately } from "./private-files.ts";
import {
  CHANGED,
  EXPECTATION_FAILED,
  GUARD_FAILED,
  UNCHANGED,
  type Committed,
  type Verdict,
} from "./sqlite-protocol.ts";
import { failedGuard, isExpected } from "./write-rules.ts";

/** "Flot", in the file header, so that another program's database is not mistaken for ours. */
const APPLICATION_ID = 0x466c6f74;
const SCHEMA_VERSION = 1;
/** In addition to the rows just written, so that a backlog of compacted rows shrinks under load too. */
const SWEEP_EXTRA = 16;
/** One idle sweep takes a few milliseconds, during which commits wait. */
const SWEEP_IDLE = 500;

/** How long a commit waits for another tool that has the file open and holds its write lock. */
const BUSY_TIMEOUT_MS = 5000;

const SCHEMA = `
  CREATE TABLE changes (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, previous INTEGER, value BLOB) STRICT;
  CREATE TABLE current (key TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL, compacted INTEGER NOT NULL, swept INTEGER NOT NULL) STRICT;
  INSERT INTO state VALUES (1, 0, 0, 0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * Pages of 8 KiB hold a few objects each, which costs the log a third less than the usual 4 KiB. 32 MiB of log between
 * checkpoints.
 */
const SETTINGS = `
  PRAGMA page_size = 8192;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA cache_size = -65536;
  PRAGMA wal_autocheckpoint = 4096;
  PRAGMA journal_size_limit = 67108864;
`;

export interface SqliteDatabaseOptions {
  path: string;
  /** How many changes are kept for `changes`. */
  historyLimit: number;
}

/** The state of the log: the newest revision, the newest compacted one, the newest swept one. */
interface State {
  revision: number;
  compacted: number;
  swept: number;
}

export class SqliteDatabase {
  readonly #path: string;
  readonly #historyLimit: number;
  readonly #lock: DatabaseSync;
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;
  #state: State;

  /** Throws `StoreError` when the file is in use, damaged or not ours. */
  constructor({ path, historyLimit }: SqliteDatabaseOptions) {
    this.#path = path;
    this.#historyLimit = historyLimit;
    this.#lock = lockFor(path);
    try {
      this.#database = openDatabase(path);
      this.#statements = prepareStatements(this.#database);
      this.#state = this.#readState();
    } catch (error) {
      this.#lock.close();
      throw explained(path, error);
    }
  }

  get revision(): number {
    return this.#state.revision;
  }

  get isOpen(): boolean {
    return this.#database.isOpen;
  }

  /** True when compacted changes still take up space. */
  get needsSweep(): boolean {
    return this.#state.swept < this.#state.compacted;
  }

  /** Decides and writes all in one transaction. When it throws, the transaction is rolled back. */
  commit(writes: readonly Write[]): Omit<Committed, "spares"> {
    const verdicts = new Uint8Array(writes.length);
    const revisions = new Float64Array(writes.length);
    const current = new Map<number, Entry>();
    const failedGuards = new Map<number, string>();
    // Many writes of a group name the same namespace, so the revisions of guarded keys are looked up once.
    const guarded = new Map<string, number | undefined>();
    const revisionOf = (key: string): number | undefined => {
      if (!guarded.has(key)) guarded.set(key, this.#revisionOf(key));
      return guarded.get(key);
    };
    this.#transaction((state) => {
      for (const [index, write] of writes.entries()) {
        verdicts[index] = this.#decide(write, state, (guards) => {
          const failed = failedGuard(guards, revisionOf);
          if (failed !== undefined) failedGuards.set(index, failed);
          return failed === undefined;
        });
        revisions[index] = state.revision;
        if (verdicts[index] === CHANGED && guarded.has(write.key))
          guarded.set(write.key, write.value === null ? undefined : state.revision);
        const found = verdicts[index] === EXPECTATION_FAILED ? this.#get(write.key) : undefined;
        if (found) current.set(index, found);
      }
      state.compacted = Math.max(state.compacted, state.revision - this.#historyLimit);
      this.#sweep(state, 2 * writes.length + SWEEP_EXTRA);
    });
    return { type: "committed", verdicts, revisions, current, failedGuards };
  }

  changes(after: number, limit: number): Change[] {
    const { compacted } = this.#state;
    if (after < compacted) throw new CompactedError(after, compacted + 1);
    return this.#statements.changesAfter.all(after, limit).map(({ revision, key, value }) => ({
      key: key as string,
      revision: revision as number,
      value: value as Uint8Array | null,
    }));
  }

  /**
   * Changes up to and including a revision, newest first, until they are compacted or the limits are exceeded; at least
   * one, if there are any.
   */
  past(upTo: number, limits: { changes: number; bytes: number }): PastChange[] {
    const found: PastChange[] = [];
    let bytes = 0;
    for (const row of this.#statements.changesBefore.iterate(upTo, this.#state.compacted, limits.changes)) {
      const { revision, key, previous, value } = row as {
        revision: number;
        key: string;
        previous: number | null;
        value: Uint8Array | null;
      };
      const replaced =
        previous === null
          ? undefined
          : { key, revision: previous, value: required(value, `the value at revision ${previous}`) };
      found.push({ key, revision, previous: replaced });
      bytes += value?.byteLength ?? 0;
      if (bytes >= limits.bytes) break;
    }
    return found;
  }

  compact(revision: number): void {
    this.#transaction((state) => {
      state.compacted = Math.max(state.compacted, Math.min(revision, state.revision));
    });
  }

  sweep(): void {
    this.#transaction((state) => this.#sweep(state, SWEEP_IDLE));
  }

  /** Current entries from the key `prefix` on, on a separate connection. */
  openScan(prefix: string): { rows: Iterator<Entry>; close(): void } {
    const reader = new DatabaseSync(this.#path, { readOnly: true });
    // CROSS JOIN fixes the loop order: along the keys, and from each to its value.
    const statement = reader.prepare(
      "SELECT current.key, revision, value FROM current CROSS JOIN changes USING (revision) WHERE current.key >= ? ORDER BY current.key",
    );
    return { rows: statement.iterate(prefix) as unknown as Iterator<Entry>, close: () => reader.close() };
  }

  close(): void {
    this.#database.close();
    this.#lock.close();
  }

  #decide({ key, expect, value, guards }: Write, state: State, holds: (guards: readonly Guard[]) => boolean): Verdict {
    const { append, point, remove } = this.#statements;
    const previous = this.#revisionOf(key);
    if (!isExpected(expect, previous)) return EXPECTATION_FAILED;
    if (guards && !holds(guards)) return GUARD_FAILED;
    if (value === null && previous === undefined) return UNCHANGED;
    state.revision += 1;
    append.run(state.revision, key, previous ?? null, value);
    if (value === null) remove.run(key);
    else point.run(key, state.revision);
    return CHANGED;
  }

  #revisionOf(key: string): number | undefined {
    return this.#statements.revisionOf.get(key)?.["revision"] as number | undefined;
  }

  #get(key: string): Entry | undefined {
    return this.#statements.get.get(key) as unknown as Entry | undefined;
  }

  /** Removes leftovers of compacted changes: the rows they replaced, and the rows of deletions. */
  #sweep(state: State, limit: number): void {
    if (state.swept >= state.compacted) return;
    const rows = this.#statements.compactedRows.all(state.swept, state.compacted, limit);
    for (const { revision, previous, deletion } of rows) {
      if (previous !== null) this.#statements.forget.run(previous as number);
      if (deletion === 1) this.#statements.forget.run(revision as number);
    }
    state.swept = rows.length < limit ? state.compacted : (rows.at(-1)?.["revision"] as number);
  }

  /** The new state takes effect only when the transaction is on disk. */
  #transaction(work: (state: State) => void): void {
    const state = { ...this.#state };
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      work(state);
      const { revision, compacted, swept } = this.#state;
      if (state.revision !== revision || state.compacted !== compacted || state.swept !== swept) {
        this.#statements.setState.run(state.revision, state.compacted, state.swept);
      }
      this.#database.exec("COMMIT");
    } catch (error) {
      // SQLite itself rolls back after some errors.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
    this.#state = state;
  }

  #readState(): State {
    const row = this.#statements.state.get();
    if (!row) throw new StoreError("its state table is empty");
    return {
      revision: row["revision"] as number,
      compacted: row["compacted"] as number,
      swept: row["swept"] as number,
    };
  }
}

function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql);
  return {
    state: prepare("SELECT revision, compacted, swept FROM state"),
    setState: prepare("UPDATE state SET revision = ?, compacted = ?, swept = ?"),
    revisionOf: prepare("SELECT revision FROM current WHERE key = ?"),
    get: prepare(
      "SELECT current.key, revision, value FROM current JOIN changes USING (revision) WHERE current.key = ?",
    ),
    append: prepare("INSERT INTO changes (revision, key, previous, value) VALUES (?, ?, ?, ?)"),
    point: prepare(
      "INSERT INTO current (key, revision) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET revision = excluded.revision",
    ),
    remove: prepare("DELETE FROM current WHERE key = ?"),
    changesAfter: prepare("SELECT revision, key, value FROM changes WHERE revision > ? ORDER BY revision LIMIT ?"),
    changesBefore: prepare(
      "SELECT changes.revision, changes.key, changes.previous, replaced.value FROM changes LEFT JOIN changes AS replaced ON replaced.revision = changes.previous WHERE changes.revision <= ? AND changes.revision > ? ORDER BY changes.revision DESC LIMIT ?",
    ),
    compactedRows: prepare(
      "SELECT revision, previous, value IS NULL AS deletion FROM changes WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?",
    ),
    forget: prepare("DELETE FROM changes WHERE revision = ?"),
  };
}

/**
 * Locks the store for this process. The operating system holds the lock on an empty file beside the data, so it is
 * released when the process exits or is killed, and the `sqlite3` tool can read the data while Flotilla runs.
 */
export function lockFor(path: string): DatabaseSync {
  const lockPath = `${path}.lock`;
  try {
    createPrivately(lockPath);
    const lock = new DatabaseSync(lockPath);
    try {
      lock.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      lock.close();
      throw error;
    }
    return lock;
  } catch (error) {
    throw explained(path, error);
  }
}

function openDatabase(path: string): DatabaseSync {
  createPrivately(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    const isNew = pragma(database, "schema_version") === 0;
    if (!isNew) checkFormat(database);
    database.exec(SETTINGS);
    if (isNew) database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const pragma = (database: DatabaseSync, name: string): unknown => database.prepare(`PRAGMA ${name}`).get()?.[name];

/** Throws when the file is not ours, or of an unknown format. Read-only. */
export function checkFormat(database: DatabaseSync): void {
  if (pragma(database, "application_id") !== APPLICATION_ID)
    throw new StoreError("it is the database of another program; choose another path");
  const version = pragma(database, "user_version") as number;
  if (version > SCHEMA_VERSION)
    throw new StoreError(`it was written by a newer Flotilla (format ${version}); use that version or a newer one`);
}

/** SQLite's primary result codes; the other bits are too detailed for users. */
const BUSY = 5;
const READ_ONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: number }).errcode;
  return code === undefined ? undefined : code & 0xff;
}

/**
 * A full disk or a foreign lock: the transaction is rolled back and a later one may succeed. After other failures the
 * state on disk cannot be relied on.
 */
export function isTemporary(error: unknown): boolean {
  const code = resultCode(error);
  return code === FULL || code === BUSY;
}

export function explained(path: string, error: unknown): StoreError {
  const advice: Record<number, string> = {
    [BUSY]: "another process uses it; stop that process, or choose another data directory",
    [READ_ONLY]: "this user cannot write to it, or its file system is read-only; choose another data directory",
    [FULL]: "the disk is full; free some space to resume writes (acknowledged writes are safe)",
    [CANNOT_OPEN]:
      "it cannot be opened; check that this user can write to the directory, or choose another data directory",
    [CORRUPT]: "the file is damaged; restore a snapshot, or move the file away to start empty",
    [NOT_A_DATABASE]: "the file is damaged or not a Flotilla store; restore a snapshot, or choose another path",
  };
  const reason = advice[resultCode(error) ?? -1] ?? messageOf(error);
  return new StoreError(`cannot use the store ${path}: ${reason}`, { cause: error });
}
