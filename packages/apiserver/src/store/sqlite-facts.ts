/**
 * Reads what is left of a store whose process is stopped: every row of the log and every entry, verified, as far as the
 * file can be read. Read-only.
 */
import { DatabaseSync } from "node:sqlite";
import { DamagedStoreError } from "./errors.ts";
import { readAcknowledged } from "./sqlite-acknowledged.ts";
import { checksumOf, type State } from "./sqlite-checksum.ts";
import { isDamage } from "./sqlite-failures.ts";
import { checkFormat, hasChecksums, readState, structureProblems } from "./sqlite-file.ts";

/** An intact row of the log. */
export interface IntactRow {
  revision: number;
  sum: number;
}

/** The intact rows of a key. */
export interface KeyHistory {
  /** The newest row. */
  newest: IntactRow & { isDeletion: boolean };
  /** The newest row with a value. */
  value: IntactRow | undefined;
}

export interface StoreFacts {
  /** False for a store of an earlier format: then values cannot be verified. */
  hasChecksums: boolean;
  /** Problems of the file's structure, the first few. */
  structure: readonly string[];
  /** Undefined when it is damaged. */
  state: State | undefined;
  /** The newest revision that was acknowledged, as noted beside the database; 0 when it is not known. */
  acknowledged: number;
  /** The newest revision of an intact row. */
  newestRow: number;
  /** How many rows of the log were read. */
  rows: number;
  keys: ReadonlyMap<string, KeyHistory>;
  /** Rows that are not as they were written, by revision, with the key that they have now. */
  damagedRows: ReadonlyMap<number, string>;
  /** The table of current entries. */
  pointers: ReadonlyMap<string, IntactRow>;
}

/** Large stores take a while, and their progress is reported after so many rows. */
const REPORTED_ROWS = 20_000;
const MAX_STRUCTURE_PROBLEMS = 5;

/** The columns may contain anything in a damaged file. */
interface RawRow {
  key: unknown;
  revision: bigint;
  previous: bigint | null;
  value: Uint8Array | null;
  sum: bigint | null;
}

export function readFacts(path: string, onProgress: (rows: number) => void): StoreFacts {
  using database = new DatabaseSync(path, { readOnly: true });
  checkFormat(database);
  const summed = hasChecksums(database);
  const structure = tolerating(() => structureProblems(database, MAX_STRUCTURE_PROBLEMS)) ?? [
    "the file cannot be read completely",
  ];
  const log = readLog(database, summed, onProgress);
  return {
    hasChecksums: summed,
    structure,
    state: summed ? tolerating(() => readState(database)) : stateWithoutSums(database),
    acknowledged: readAcknowledged(path),
    ...log,
    pointers: readPointers(database, summed, log.keys),
  };
}

function readLog(
  database: DatabaseSync,
  summed: boolean,
  onProgress: (rows: number) => void,
): Pick<StoreFacts, "keys" | "damagedRows" | "rows" | "newestRow"> {
  const keys = new Map<string, KeyHistory>();
  const damagedRows = new Map<number, string>();
  let rows = 0;
  let newestRow = 0;
  const columns = `revision, key, previous, value, ${summed ? "sum" : "NULL AS sum"}`;
  for (const raw of fromBothEnds(database, `SELECT ${columns} FROM changes`, "revision")) {
    if (++rows % REPORTED_ROWS === 0) onProgress(rows);
    const row = {
      key: String(raw.key),
      revision: Number(raw.revision),
      previous: raw.previous === null ? null : Number(raw.previous),
      value: raw.value,
    };
    const sum = checksumOf(row);
    if (summed && sum !== Number(raw.sum)) {
      damagedRows.set(row.revision, row.key);
      continue;
    }
    newestRow = Math.max(newestRow, row.revision);
    noteRow(keys, row.key, { revision: row.revision, sum, isDeletion: row.value === null });
  }
  return { keys, damagedRows, rows, newestRow };
}

function noteRow(keys: Map<string, KeyHistory>, key: string, row: KeyHistory["newest"]): void {
  const known = keys.get(key);
  const value = row.isDeletion ? undefined : { revision: row.revision, sum: row.sum };
  keys.set(key, {
    newest: known && known.newest.revision > row.revision ? known.newest : row,
    value: newer(known?.value, value),
  });
}

const newer = (a: IntactRow | undefined, b: IntactRow | undefined): IntactRow | undefined =>
  a && b ? (a.revision > b.revision ? a : b) : (a ?? b);

function readPointers(
  database: DatabaseSync,
  summed: boolean,
  keys: ReadonlyMap<string, KeyHistory>,
): ReadonlyMap<string, IntactRow> {
  const pointers = new Map<string, IntactRow>();
  const columns = `key, revision, ${summed ? "sum" : "NULL AS sum"}`;
  for (const { key, revision, sum } of fromBothEnds(database, `SELECT ${columns} FROM current`, "key")) {
    const name = String(key);
    pointers.set(name, {
      revision: Number(revision),
      sum: summed ? Number(sum) : (keys.get(name)?.newest.sum ?? 0),
    });
  }
  return pointers;
}

/** Rows in both directions: in a damaged file, each may end before the damaged part. */
function* fromBothEnds(database: DatabaseSync, select: string, column: "revision" | "key"): Generator<RawRow> {
  const seen = new Set<unknown>();
  for (const direction of ["ASC", "DESC"]) {
    const statement = database.prepare(`${select} ORDER BY ${column} ${direction}`);
    // A damaged revision may exceed the safe integers.
    statement.setReadBigInts(true);
    let isComplete = true;
    try {
      for (const row of statement.iterate() as unknown as Iterable<RawRow>) {
        if (seen.has(row[column])) continue;
        seen.add(row[column]);
        yield row;
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      isComplete = false;
    }
    if (isComplete) return;
  }
}

function stateWithoutSums(database: DatabaseSync): State | undefined {
  return tolerating(() => {
    const row = database
      .prepare("SELECT revision, compacted, swept, (SELECT count(*) FROM current) AS objects FROM state")
      .get();
    return row && ({ ...row, total: 0 } as State);
  });
}

/** Undefined when the file is too damaged for it. */
function tolerating<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isDamage(error) || error instanceof DamagedStoreError) return undefined;
    throw error;
  }
}
