/**
 * The copy of another store, in a file of the format of a snapshot: entries keep the revisions that they have there. It is
 * written by one process and restored like a snapshot when the copy becomes a store. Synchronous; every batch is one
 * transaction and on disk when `apply` returns.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Change } from "./engine.ts";
import { checksumOf, totalWith } from "./sqlite-checksum.ts";
import type { State } from "./sqlite-checksum.ts";
import { explained } from "./sqlite-failures.ts";
import { lockFor, openDatabase, readState, SET_STATE, stateRow } from "./sqlite-file.ts";

export interface Replica {
  /** Everything up to here is copied; 0 when nothing is. */
  readonly revision: number;
  readonly objects: number;
  /** Changes that it already has are ignored. */
  apply(changes: readonly Change[], revision: number): void;
  /** A copy beside this one, which replaces it when it is complete. Until then this one stays as it is. */
  begin(): ReplicaCopy;
  /** Afterwards the file can be restored. */
  close(): void;
}

interface ReplicaCopy {
  add(changes: readonly Change[]): void;
  /** The copy is what the source was at a revision. */
  complete(revision: number): void;
  abandon(): void;
}

/** Throws `StoreError` when the file is in use or not ours. */
export function openReplica(path: string): Replica {
  const lock = lockFor(path);
  const partial = `${path}.new`;
  let table: Table;
  try {
    table = openTable(path);
  } catch (error) {
    lock.close();
    throw explained(path, error);
  }
  return {
    get revision() {
      return table.state.revision;
    },
    get objects() {
      return table.state.objects;
    },
    apply: (changes, revision) => table.apply(changes, revision),
    begin() {
      removeFiles(partial);
      const copy = openTable(partial);
      return {
        add: (changes) => copy.apply(changes, 0),
        complete(revision) {
          copy.apply([], revision);
          copy.close();
          table.close();
          removeFiles(path);
          renameSync(partial, path);
          table = openTable(path);
        },
        abandon() {
          copy.close();
          removeFiles(partial);
        },
      };
    },
    close() {
      table.close();
      lock.close();
    },
  };
}

interface Table {
  readonly state: State;
  apply(changes: readonly Change[], revision: number): void;
  close(): void;
}

function openTable(path: string): Table {
  const database: DatabaseSync = openDatabase(path);
  const pointerOf = database.prepare("SELECT revision, sum FROM current WHERE key = ?");
  const append = database.prepare(
    "INSERT INTO changes (revision, key, previous, value, sum) VALUES (?, ?, NULL, ?, ?)",
  );
  const forget = database.prepare("DELETE FROM changes WHERE revision = ?");
  const point = database.prepare(
    "INSERT INTO current (key, revision, sum) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, sum = excluded.sum",
  );
  const remove = database.prepare("DELETE FROM current WHERE key = ?");
  const setState = database.prepare(SET_STATE);
  let state = readState(database);

  function put(next: State, { key, revision, value }: Change): void {
    const former = pointerOf.get(key) as { revision: number; sum: number } | undefined;
    if (former && former.revision >= revision) return;
    if (former) forget.run(former.revision);
    let sum = 0;
    if (value !== null) {
      sum = checksumOf({ revision, key, previous: null, value });
      append.run(revision, key, value, sum);
      point.run(key, revision, sum);
    } else if (former) remove.run(key);
    next.objects += (value === null ? 0 : 1) - (former ? 1 : 0);
    next.total = totalWith(next.total, sum, former?.sum ?? 0);
  }

  return {
    get state() {
      return state;
    },
    apply(changes, revision) {
      const next = { ...state };
      database.exec("BEGIN IMMEDIATE");
      try {
        for (const change of changes) put(next, change);
        next.revision = Math.max(next.revision, revision);
        // It has no history.
        next.compacted = next.swept = next.revision;
        setState.run(...stateRow(next));
        database.exec("COMMIT");
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw explained(path, error);
      }
      state = next;
    },
    close: () => database.close(),
  };
}

function removeFiles(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) if (existsSync(path + suffix)) rmSync(path + suffix);
}
