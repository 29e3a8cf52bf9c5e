/**
 * Snapshot files: a copy of the store with, in an extra table, the few files that belong to it (certificates, keys).
 * One file is a complete backup, and restoring it creates a store that clients of the old one cannot mistake for it.
 */
import { copyFileSync, existsSync, linkSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { FlotillaError } from "@flotilla/base";
import { StoreError } from "./errors.ts";
import { INTERNAL_PREFIX } from "./internal-keys.ts";
import { createPrivately, syncDirectoryOf, syncFile } from "./private-files.ts";
import { Scan } from "./sqlite-database.ts";
import { openAcknowledged, readAcknowledged } from "./sqlite-acknowledged.ts";
import { explained } from "./sqlite-failures.ts";
import { checkFormat, convert, hasChecksums, lockFor, readState, writeState } from "./sqlite-file.ts";
import { snapshotFailure } from "./sqlite-snapshot.ts";

export interface SnapshotFile {
  /** Relative to the data directory, with `/` as separator. */
  path: string;
  content: Uint8Array;
}

export interface SnapshotInfo {
  revision: number;
  objects: number;
  files: number;
}

/**
 * The first revision of a restored store. Clients that watched the lost future have revisions that this store would
 * reach again with other content; by starting beyond them it answers those clients with "expired", and they list again.
 * The clock gives each restore of the same snapshot a different start: no store sustains a million writes per second
 * for long.
 */
export const fencedRevision = (revision: number, nowMs: number): number =>
  Math.max(revision + 1_000_000_000, nowMs * 1000);

/** Adds files to a newly written snapshot. */
export function addFiles(snapshot: string, files: readonly SnapshotFile[]): void {
  using database = openSnapshot(snapshot, false);
  try {
    database.exec("BEGIN; CREATE TABLE files (path TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT");
    const insert = database.prepare("INSERT INTO files VALUES (?, ?)");
    for (const { path, content } of files) insert.run(path, content);
    database.exec("COMMIT");
    syncFile(snapshot);
  } catch (error) {
    throw snapshotFailure(`adding certificates and keys to the snapshot ${snapshot}`, error);
  }
}

/** Reads every page of a snapshot. Throws `StoreError` when it is damaged, of a newer format or not a snapshot. */
export function inspectSnapshot(snapshot: string): SnapshotInfo {
  using database = openSnapshot(snapshot, true);
  try {
    const verdict = database.prepare("PRAGMA integrity_check(1)").get()?.["integrity_check"];
    if (verdict !== "ok") throw new StoreError(`it is damaged: ${String(verdict)}`);
    if (hasChecksums(database)) verifyEntries(snapshot);
    const count = (sql: string): number => Number(database.prepare(sql).get()?.["n"] ?? 0);
    const hasFiles = count("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'files'") > 0;
    return {
      revision: count("SELECT revision AS n FROM state"),
      objects: count(`SELECT count(*) AS n FROM current WHERE key NOT LIKE '${INTERNAL_PREFIX}%'`),
      files: hasFiles ? count("SELECT count(*) AS n FROM files") : 0,
    };
  } catch (error) {
    throw unusable(snapshot, error);
  }
}

/** The files in a snapshot. */
export function readFiles(snapshot: string): SnapshotFile[] {
  using database = openSnapshot(snapshot, true);
  const hasFiles = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'files'").get() !== undefined;
  return hasFiles ? (database.prepare("SELECT path, content FROM files").all() as unknown as SnapshotFile[]) : [];
}

/**
 * Creates the store `target`, which must not exist, from a snapshot. It appears under its name only when it is complete
 * and on disk.
 */
export function restoreSnapshot(snapshot: string, target: string, nowMs: number): void {
  if (existsSync(target))
    throw new StoreError(`the store ${target} already exists; move it away, or restore into another data directory`);
  using lock = lockFor(target);
  void lock;
  const partial = `${target}.partial`;
  rmSync(partial, { force: true });
  try {
    createPrivately(partial);
    copyFileSync(snapshot, partial);
    const revision = fence(partial, readAcknowledged(target), nowMs);
    syncFile(partial);
    // Unlike a rename, a link fails when the name has been created concurrently.
    linkSync(partial, target);
    syncDirectoryOf(target);
    const acknowledged = openAcknowledged(target);
    acknowledged.write(revision);
    acknowledged.close();
  } catch (error) {
    throw error instanceof StoreError ? error : new StoreError(`writing the store ${target}`, { cause: error });
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Returns the first revision of the restored store. */
function fence(path: string, acknowledged: number, nowMs: number): number {
  using database = openSnapshot(path, false);
  convert(database);
  const state = readState(database);
  const revision = fencedRevision(Math.max(state.revision, acknowledged), nowMs);
  database.exec("BEGIN; DROP TABLE IF EXISTS files");
  writeState(database, { ...state, revision, compacted: revision });
  database.exec("COMMIT");
  return revision;
}

/** Throws `DamagedStoreError` that names the damaged objects. */
function verifyEntries(snapshot: string): void {
  const scan = new Scan(snapshot, "");
  try {
    while (scan.next());
  } finally {
    scan.close();
  }
}

/** The revision of each object in a snapshot, by key. Throws `StoreError` when the snapshot is damaged. */
export function readSnapshotRevisions(snapshot: string): ReadonlyMap<string, number> {
  inspectSnapshot(snapshot);
  using database = openSnapshot(snapshot, true);
  return new Map(
    database
      .prepare("SELECT key, revision FROM current")
      .all()
      .map(({ key, revision }) => [key as string, revision as number]),
  );
}

function openSnapshot(path: string, readOnly: boolean): DatabaseSync {
  if (!existsSync(path)) throw new StoreError(`snapshot ${path} not found`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly });
    checkFormat(database);
    return database;
  } catch (error) {
    database?.close();
    throw unusable(path, error);
  }
}

const unusable = (path: string, error: unknown): Error =>
  error instanceof FlotillaError && error.message.startsWith("cannot use") ? error : explained(path, error);
