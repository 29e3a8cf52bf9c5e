/**
 * The tables of the SQLite store and their operations. Synchronous: it runs in the worker thread.
 *
 * `changes` is an append-only log and holds every value once. `current` maps a key to the row of its value, so a write
 * appends one row and updates one small one. A change references the row it replaced: after compaction, that row and
 * the rows of deletions are swept, a few with each commit, so that only current values remain.
 *
 * Every row has a checksum, which is verified when its value is read. The state has the number and the total of the
 * checksums of all current entries, so a scan of everything also finds entries that are missing.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Change, Entry, Guard, PastChange, Write } from "./engine.ts";
import { CompactedError, DamagedStoreError } from "./errors.ts";
import { openAcknowledged, readAcknowledged, type AcknowledgedFile } from "./sqlite-acknowledged.ts";
import { checksumOf, totalWith, type State, type SummedRow } from "./sqlite-checksum.ts";
import { damagedEntries, describeKey, explained } from "./sqlite-failures.ts";
import { lockFor, openDatabase, readState, SET_STATE, stateRow } from "./sqlite-file.ts";
import {
  CHANGED,
  EXPECTATION_FAILED,
  GUARD_FAILED,
  UNCHANGED,
  type Committed,
  type Verdict,
} from "./sqlite-protocol.ts";
import { failedGuard, isExpected } from "./write-rules.ts";

/** In addition to the rows just written, so that a backlog of compacted rows shrinks under load too. */
const SWEEP_EXTRA = 16;
/** One idle sweep takes a few milliseconds, during which commits wait. */
const SWEEP_IDLE = 500;

export interface SqliteDatabaseOptions {
  path: string;
  /** How many changes are kept for `changes`. */
  historyLimit: number;
}

export class SqliteDatabase {
  readonly #path: string;
  readonly #historyLimit: number;
  readonly #lock: DatabaseSync;
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #acknowledged: AcknowledgedFile;
  #state: State;

  /** Throws `StoreError` when the file is in use, damaged or not ours, or when acknowledged writes are missing. */
  constructor({ path, historyLimit }: SqliteDatabaseOptions) {
    this.#path = path;
    this.#historyLimit = historyLimit;
    this.#lock = lockFor(path);
    let database: DatabaseSync | undefined;
    try {
      database = openDatabase(path);
      this.#database = database;
      this.#statements = prepareStatements(database);
      this.#state = readState(database);
      checkAcknowledged(path, this.#state);
      this.#acknowledged = openAcknowledged(path);
      this.#acknowledged.write(this.#state.revision);
    } catch (error) {
      database?.close();
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
    const { compacted, revision: newest } = this.#state;
    if (after < compacted) throw new CompactedError(after, compacted + 1);
    const rows = this.#statements.changesAfter.all(after, limit) as unknown as LoggedRow[];
    checkComplete(
      rows.map(({ revision }) => revision),
      after + 1,
      Math.min(newest, after + limit),
    );
    return rows.map((row) => {
      checkChange(row);
      return { key: row.key, revision: row.revision, value: row.value };
    });
  }

  /**
   * Changes up to and including a revision, newest first, until they are compacted or the limits are exceeded; at least
   * one, if there are any.
   */
  past(upTo: number, limits: { changes: number; bytes: number }): PastChange[] {
    const found: PastChange[] = [];
    let bytes = 0;
    let expected = Math.min(upTo, this.#state.revision);
    for (const row of this.#statements.changesBefore.iterate(upTo, this.#state.compacted, limits.changes)) {
      const change = row as unknown as PastRow;
      if (change.revision !== expected) throw missingChange(expected);
      expected -= 1;
      checkChange(change);
      const previous = replacedBy(change);
      found.push({ key: change.key, revision: change.revision, previous });
      bytes += previous?.value.byteLength ?? 0;
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

  /** Current entries under a prefix, on a separate connection. */
  openScan(prefix: string): Scan {
    return new Scan(this.#path, prefix);
  }

  close(): void {
    this.#database.close();
    this.#acknowledged.close();
    this.#lock.close();
  }

  #decide({ key, expect, value, guards }: Write, state: State, holds: (guards: readonly Guard[]) => boolean): Verdict {
    const { append, point, remove } = this.#statements;
    const former = this.#statements.pointerOf.get(key) as { revision: number; sum: number } | undefined;
    if (!isExpected(expect, former?.revision)) return EXPECTATION_FAILED;
    if (guards && !holds(guards)) return GUARD_FAILED;
    if (value === null && !former) return UNCHANGED;
    state.revision += 1;
    const row: SummedRow = { revision: state.revision, key, previous: former?.revision ?? null, value };
    const sum = checksumOf(row);
    append.run(row.revision, key, row.previous, value, sum);
    if (value === null) remove.run(key);
    else point.run(key, row.revision, sum);
    state.objects += (value === null ? 0 : 1) - (former ? 1 : 0);
    state.total = totalWith(state.total, value === null ? 0 : sum, former?.sum ?? 0);
    return CHANGED;
  }

  #revisionOf(key: string): number | undefined {
    return this.#statements.pointerOf.get(key)?.["revision"] as number | undefined;
  }

  #get(key: string): Entry | undefined {
    const row = this.#statements.get.get(key) as unknown as CurrentRow | undefined;
    if (!row) return undefined;
    if (!isIntact(row)) throw damagedEntries([key]);
    return { key: row.key, revision: row.revision, value: row.value };
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
      const isChanged = (Object.keys(state) as (keyof State)[]).some((name) => state[name] !== this.#state[name]);
      if (isChanged) this.#statements.setState.run(...stateRow(state));
      this.#database.exec("COMMIT");
    } catch (error) {
      // SQLite itself rolls back after some errors.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
    const isNewer = state.revision > this.#state.revision;
    this.#state = state;
    if (isNewer) this.#acknowledge(state.revision);
  }

  #acknowledge(revision: number): void {
    try {
      this.#acknowledged.write(revision);
    } catch (error) {
      // The commit is on disk already. An older revision in the file is valid, as after a power failure.
      if (!(error instanceof Error && "syscall" in error)) throw error;
    }
  }
}

function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql);
  return {
    setState: prepare(SET_STATE),
    pointerOf: prepare("SELECT revision, sum FROM current WHERE key = ?"),
    get: prepare(`${SELECT_CURRENT} WHERE current.key = ?`),
    append: prepare("INSERT INTO changes (revision, key, previous, value, sum) VALUES (?, ?, ?, ?, ?)"),
    point: prepare(
      "INSERT INTO current (key, revision, sum) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, sum = excluded.sum",
    ),
    remove: prepare("DELETE FROM current WHERE key = ?"),
    changesAfter: prepare(
      "SELECT revision, key, previous, value, sum FROM changes WHERE revision > ? ORDER BY revision LIMIT ?",
    ),
    changesBefore: prepare(
      "SELECT changes.revision, changes.key, changes.previous, changes.value, changes.sum, replaced.value " +
        "AS replacedValue, replaced.previous AS replacedPrevious, replaced.sum AS replacedSum FROM changes " +
        "LEFT JOIN changes AS replaced ON replaced.revision = changes.previous WHERE changes.revision <= ? " +
        "AND changes.revision > ? ORDER BY changes.revision DESC LIMIT ?",
    ),
    compactedRows: prepare(
      "SELECT revision, previous, value IS NULL AS deletion FROM changes WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?",
    ),
    // A damaged reference to a replaced row must not remove a current one.
    forget: prepare(
      "DELETE FROM changes WHERE revision = ? AND NOT EXISTS (SELECT 1 FROM current WHERE current.key = changes.key AND current.revision = changes.revision)",
    ),
  };
}

/** The file may hold less than was acknowledged when its log was removed or cut. */
function checkAcknowledged(path: string, { revision }: State): void {
  const acknowledged = readAcknowledged(path);
  if (revision < acknowledged)
    throw new DamagedStoreError(
      `it ends at revision ${revision}, but writes up to revision ${acknowledged} were acknowledged: the file ${path}-wal was removed or is damaged`,
    );
}

/** A row of the log with its checksum. */
interface LoggedRow extends SummedRow {
  sum: number;
}

/** A change with the row that it replaced. */
interface PastRow extends LoggedRow {
  replacedValue: Uint8Array | null;
  replacedPrevious: number | null;
  replacedSum: number | null;
}

function checkChange(row: LoggedRow): void {
  if (checksumOf(row) !== row.sum)
    throw new DamagedStoreError(`the change at revision ${row.revision} (${describeKey(row.key)}) is damaged`);
}

/** The entry that a change replaced; undefined for a new key. */
function replacedBy({ key, previous, replacedValue, replacedPrevious, replacedSum }: PastRow): Entry | undefined {
  if (previous === null) return undefined;
  if (replacedValue === null || replacedSum === null) throw missingChange(previous);
  checkChange({ revision: previous, key, previous: replacedPrevious, value: replacedValue, sum: replacedSum });
  return { key, revision: previous, value: replacedValue };
}

/** Changes that are not compacted have every revision. */
function checkComplete(revisions: readonly number[], first: number, last: number): void {
  for (let index = 0; index <= last - first; index++)
    if (revisions[index] !== first + index) throw missingChange(first + index);
}

const missingChange = (revision: number): Error =>
  new DamagedStoreError(`the change at revision ${revision} is missing`);

/** LEFT: an entry without its row is damaged, not absent. It also fixes the loop order: along the keys. */
const SELECT_CURRENT =
  "SELECT current.key, current.revision, current.sum, previous, value FROM current LEFT JOIN changes ON changes.revision = current.revision";

/** An entry as it is found; without the row of its value, `value` is null. */
interface CurrentRow {
  key: string;
  revision: number;
  sum: number;
  previous: number | null;
  value: Uint8Array | null;
}

/** The checksum is that of the entry, so a value of another key or revision is found too. */
const isIntact = (row: CurrentRow): row is CurrentRow & { value: Uint8Array } =>
  row.value !== null && checksumOf(row) === row.sum;

/** Reads the current entries under a prefix, and verifies each. */
export class Scan {
  readonly #reader: DatabaseSync;
  readonly #prefix: string;
  readonly #expected: State;
  readonly #rows: Iterator<CurrentRow>;
  readonly #damaged: string[] = [];
  #objects = 0;
  #total = 0;

  constructor(path: string, prefix: string) {
    this.#prefix = prefix;
    this.#reader = new DatabaseSync(path, { readOnly: true });
    // The state and the entries of the same moment.
    this.#reader.exec("BEGIN");
    this.#expected = readState(this.#reader);
    const statement = this.#reader.prepare(`${SELECT_CURRENT} WHERE current.key >= ? ORDER BY current.key`);
    this.#rows = statement.iterate(prefix) as unknown as Iterator<CurrentRow>;
  }

  /**
   * The next entry; undefined at the end. Damaged entries are left out, and reported at the end: throws
   * `DamagedStoreError` that names all of them.
   */
  next(): Entry | undefined {
    for (;;) {
      const { done, value: row } = this.#rows.next();
      if (done || !row.key.startsWith(this.#prefix)) break;
      this.#objects += 1;
      this.#total = totalWith(this.#total, row.sum, 0);
      if (isIntact(row)) return { key: row.key, revision: row.revision, value: row.value };
      this.#damaged.push(row.key);
    }
    if (this.#damaged.length > 0) throw damagedEntries(this.#damaged);
    if (this.#prefix === "") this.#checkTotals();
    return undefined;
  }

  close(): void {
    this.#reader.close();
  }

  #checkTotals(): void {
    const { objects, total } = this.#expected;
    if (this.#objects !== objects) throw new DamagedStoreError(`${this.#objects} of ${objects} objects were found`);
    if (this.#total !== total) throw new DamagedStoreError("the set of objects is not the one that was written");
  }
}
