/** The file of a SQLite store: its lock, its tables, and how stores of earlier formats are converted. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { DamagedStoreError, StoreError } from "./errors.ts";
import { createPrivately } from "./private-files.ts";
import { readAcknowledged } from "./sqlite-acknowledged.ts";
import { checksumOf, checksumOfState, totalWith, type State, type SummedRow } from "./sqlite-checksum.ts";
import { explained } from "./sqlite-failures.ts";

/** "Flot", in the file header, so that another program's database is not mistaken for ours. */
const APPLICATION_ID = 0x466c6f74;
/** Format 1 had no checksums. */
const SCHEMA_VERSION = 2;

/** How long a commit waits for another tool that has the file open and holds its write lock. */
const BUSY_TIMEOUT_MS = 5000;

/** `current.sum` repeats the sum of the row that `revision` names, so that the two tables confirm each other. */
const SCHEMA = `
  CREATE TABLE changes (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, previous INTEGER, value BLOB, sum INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE TABLE current (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, sum INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
  CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL, compacted INTEGER NOT NULL,
    swept INTEGER NOT NULL, objects INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL DEFAULT 0) STRICT;
  INSERT INTO state (id, revision, compacted, swept) VALUES (1, 0, 0, 0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

const ADD_SUMS = `
  ALTER TABLE changes ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE current ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE state ADD COLUMN objects INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE state ADD COLUMN total INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE state ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
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

/** Rows that are converted at a time. */
const PAGE_ROWS = 256;

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

/** Opens the database, and creates or converts it. */
export function openDatabase(path: string): DatabaseSync {
  checkNotLost(path);
  createPrivately(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    const isNew = pragma(database, "schema_version") === 0;
    if (!isNew) checkFormat(database);
    database.exec(SETTINGS);
    if (isNew) createTables(database);
    else convert(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A store that acknowledged writes is not replaced by a new one. */
function checkNotLost(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size !== undefined && size > 0) return;
  const acknowledged = readAcknowledged(path);
  if (acknowledged > 0)
    throw new DamagedStoreError(
      `the store is ${size === undefined ? "missing" : "empty"}, but writes up to revision ${acknowledged} were acknowledged`,
    );
}

function createTables(database: DatabaseSync): void {
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
  writeState(database, { revision: 0, compacted: 0, swept: 0, objects: 0, total: 0 });
  database.exec("COMMIT");
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

export const hasChecksums = (database: DatabaseSync): boolean => (pragma(database, "user_version") as number) >= 2;

/**
 * Adds checksums to a store of format 1, in one transaction. What such a store contains is taken as it is, after a check
 * of its structure: whether a value was changed earlier cannot be known.
 */
export function convert(database: DatabaseSync): void {
  if (hasChecksums(database)) return;
  const problem = structureProblems(database, 1)[0];
  if (problem !== undefined) throw new DamagedStoreError(`its structure is damaged: ${problem}`);
  database.exec(`BEGIN IMMEDIATE; ${ADD_SUMS}`);
  try {
    addSums(database);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function addSums(database: DatabaseSync): void {
  const page = database.prepare(
    "SELECT revision, key, previous, value FROM changes WHERE revision > ? ORDER BY revision LIMIT ?",
  );
  const sum = database.prepare("UPDATE changes SET sum = ? WHERE revision = ?");
  for (let after = 0; ;) {
    const rows = page.all(after, PAGE_ROWS) as unknown as SummedRow[];
    for (const row of rows) sum.run(checksumOf(row), row.revision);
    if (rows.length < PAGE_ROWS) break;
    after = rows.at(-1)?.revision ?? after;
  }
  database.exec(
    "UPDATE current SET sum = coalesce((SELECT sum FROM changes WHERE changes.revision = current.revision), 0)",
  );
  const { revision, compacted, swept } = database.prepare("SELECT revision, compacted, swept FROM state").get() as {
    [K in "revision" | "compacted" | "swept"]: number;
  };
  writeState(database, { revision, compacted, swept, ...totalsOf(database) });
}

/** The number of current entries and the total of their checksums. */
export function totalsOf(database: DatabaseSync): Pick<State, "objects" | "total"> {
  let objects = 0;
  let total = 0;
  for (const row of database.prepare("SELECT sum FROM current").iterate()) {
    objects += 1;
    total = totalWith(total, row["sum"] as number, 0);
  }
  return { objects, total };
}

/** Throws `DamagedStoreError` when the state is missing or not as it was written. */
export function readState(database: DatabaseSync): State {
  const row = database.prepare("SELECT revision, compacted, swept, objects, total, sum FROM state").get() as
    | (State & { sum: number })
    | undefined;
  if (!row) throw new DamagedStoreError("its state is missing");
  const { sum, ...state } = row;
  if (sum !== checksumOfState(state)) throw new DamagedStoreError("its state is damaged");
  return state;
}

export const SET_STATE =
  "UPDATE state SET revision = ?, compacted = ?, swept = ?, objects = ?, total = ?, sum = ? WHERE id = 1";

/** The parameters of `SET_STATE`. */
export function stateRow(state: State): number[] {
  const { revision, compacted, swept, objects, total } = state;
  return [revision, compacted, swept, objects, total, checksumOfState(state)];
}

export function writeState(database: DatabaseSync, state: State): void {
  database.prepare(SET_STATE).run(...stateRow(state));
}

/** Problems of the tables and pages of the file, as SQLite reports them. */
export function structureProblems(database: DatabaseSync, limit: number): string[] {
  return database
    .prepare(`PRAGMA quick_check(${limit})`)
    .all()
    .map((row) => String(row["quick_check"]))
    .filter((problem) => problem !== "ok");
}
