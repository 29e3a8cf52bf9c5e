/**
 * Checks a store whose process is stopped, and repairs it: a new file gets all intact values, and the damaged objects
 * from where the plan found them. The damaged file is kept under another name.
 */
import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { required } from "@flotilla/base";
import { StoreError } from "./errors.ts";
import { planRepair, type Remedy, type RepairPlan } from "./plan-repair.ts";
import { syncDirectoryOf, syncFile } from "./private-files.ts";
import { openAcknowledged, readAcknowledged } from "./sqlite-acknowledged.ts";
import { checksumOf } from "./sqlite-checksum.ts";
import { describeKey, explained, isDamage } from "./sqlite-failures.ts";
import { readFacts, type StoreFacts } from "./sqlite-facts.ts";
import { lockFor, openDatabase, totalsOf, writeState } from "./sqlite-file.ts";
import { fencedRevision, readSnapshotRevisions } from "./sqlite-restore.ts";

export interface StoreCheckOptions {
  path: string;
  /** A snapshot from which damaged objects may be restored. */
  snapshot?: string;
  onProgress(rows: number): void;
}

interface DamagedObject {
  key: string;
  /** `configmaps default/a of hub` */
  object: string;
  problem: Remedy["problem"];
  from: Remedy["from"];
  revision: number;
}

export interface StoreReport {
  objects: number;
  /** Rows of the log that were verified, with the current values. */
  rows: number;
  revision: number;
  /** False for a store of an earlier Flotilla, which gets checksums when it is started next. */
  hasChecksums: boolean;
  /** Problems of the file itself. */
  structure: readonly string[];
  damaged: readonly DamagedObject[];
  damagedHistory: number;
  unknownObjects: number;
  /** Acknowledged writes after `revision` are gone: the newest that was acknowledged. */
  lostUpTo?: number;
}

export interface RepairResult {
  objects: number;
  /** The damaged file; undefined when there was none. */
  keptAs: string | undefined;
}

/** Read-only, except for the lock. Throws `StoreError` when the store is in use or not readable at all. */
export function checkStore(options: StoreCheckOptions): StoreReport {
  using lock = lockFor(options.path);
  void lock;
  const facts = factsOf(options);
  return reportOf(facts, planOf(facts, options));
}

export const isDamaged = (report: StoreReport): boolean =>
  report.structure.length + report.damaged.length + report.damagedHistory + report.unknownObjects > 0 ||
  report.lostUpTo !== undefined;

/** Objects without an intact copy are left out. */
export function repairStore(options: StoreCheckOptions & { nowMs: number }): RepairResult {
  const { path } = options;
  using lock = lockFor(path);
  void lock;
  const facts = factsOf(options);
  const plan = planOf(facts, options);
  const repaired = `${path}.repaired`;
  for (const end of ["", "-wal", "-shm"]) rmSync(repaired + end, { force: true });
  try {
    const objects = writeRepaired(repaired, facts, plan, options);
    const keptAs = replaceStore(path, repaired, options.nowMs);
    return { objects, keptAs };
  } catch (error) {
    throw error instanceof StoreError ? error : explained(path, error);
  } finally {
    rmSync(repaired, { force: true });
  }
}

const NOTHING: Omit<StoreFacts, "acknowledged" | "structure"> = {
  hasChecksums: true,
  state: undefined,
  newestRow: 0,
  rows: 0,
  keys: new Map(),
  damagedRows: new Map(),
  pointers: new Map(),
};

function factsOf({ path, onProgress }: StoreCheckOptions): StoreFacts {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  const acknowledged = readAcknowledged(path);
  if (size === undefined && acknowledged === 0) throw new StoreError(`there is no store ${path}`);
  if (size === undefined || size === 0)
    return { ...NOTHING, acknowledged, structure: acknowledged > 0 ? ["the file is missing or empty"] : [] };
  try {
    return readFacts(path, onProgress);
  } catch (error) {
    if (!isDamage(error)) throw explained(path, error);
    return { ...NOTHING, acknowledged, structure: ["the file cannot be read as a database"] };
  }
}

const planOf = (facts: StoreFacts, { snapshot }: StoreCheckOptions): RepairPlan =>
  planRepair(facts, snapshot === undefined ? new Map() : readSnapshotRevisions(snapshot));

function reportOf(facts: StoreFacts, plan: RepairPlan): StoreReport {
  const revision = facts.state?.revision ?? facts.newestRow;
  const isStateDamaged = facts.state === undefined && facts.rows > 0;
  return {
    objects: plan.kept.size,
    rows: facts.rows,
    revision,
    hasChecksums: facts.hasChecksums,
    structure: isStateDamaged ? [...facts.structure, "the table of the newest revision is damaged"] : facts.structure,
    damaged: plan.remedies.map((remedy) => ({ ...remedy, object: describeKey(remedy.key) })),
    damagedHistory: plan.damagedHistory,
    unknownObjects: plan.unknownObjects,
    lostUpTo: revision < facts.acknowledged ? facts.acknowledged : undefined,
  };
}

/** Writes the new store; returns the number of its objects. */
function writeRepaired(
  target: string,
  facts: StoreFacts,
  plan: RepairPlan,
  { path, snapshot, nowMs }: StoreCheckOptions & { nowMs: number },
): number {
  using source = plan.kept.size + facts.rows > 0 ? new DatabaseSync(path, { readOnly: true }) : undefined;
  using saved = snapshot === undefined ? undefined : new DatabaseSync(snapshot, { readOnly: true });
  using database = openDatabase(target);
  const append = database.prepare("INSERT INTO changes (revision, key, previous, value, sum) VALUES (?, ?, ?, ?, ?)");
  const point = database.prepare("INSERT INTO current (key, revision, sum) VALUES (?, ?, ?)");
  const put = (key: string, revision: number, value: Uint8Array): void => {
    const sum = checksumOf({ revision, key, previous: null, value });
    append.run(revision, key, null, value, sum);
    point.run(key, revision, sum);
  };
  const readers = { log: readerOf(source), history: readerOf(source), snapshot: readerOf(saved) };
  // As after a restore: clients that know revisions of the damaged store must list again.
  const known = Math.max(facts.state?.revision ?? 0, facts.newestRow, facts.acknowledged);
  let revision = fencedRevision(known, nowMs);
  database.exec("BEGIN IMMEDIATE");
  for (const [key, row] of plan.kept) put(key, row.revision, readers.log(row.revision));
  for (const { key, from, revision: of } of plan.remedies)
    if (from !== "nothing") put(key, ++revision, readers[from](of));
  const totals = totalsOf(database);
  writeState(database, { revision, compacted: revision, swept: revision, ...totals });
  database.exec("COMMIT");
  return totals.objects;
}

/** Values by revision. */
function readerOf(database: DatabaseSync | undefined): (revision: number) => Uint8Array {
  let statement: StatementSync | undefined;
  return (revision) => {
    statement ??= required(database, "the file with intact values").prepare(
      "SELECT value FROM changes WHERE revision = ?",
    );
    return required(statement.get(revision)?.["value"] as Uint8Array | null, `the value at revision ${revision}`);
  };
}

function replaceStore(path: string, repaired: string, nowMs: number): string | undefined {
  syncFile(repaired);
  const keptAs = `${path}.damaged-${new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const hadStore = existsSync(path);
  for (const end of ["", "-wal", "-shm"]) if (existsSync(path + end)) renameSync(path + end, keptAs + end);
  // Unlike a rename, a link fails when the name has been created concurrently.
  linkSync(repaired, path);
  syncDirectoryOf(path);
  noteAcknowledged(path);
  return hadStore ? keptAs : undefined;
}

function noteAcknowledged(path: string): void {
  using database = new DatabaseSync(path, { readOnly: true });
  const file = openAcknowledged(path);
  file.write(database.prepare("SELECT revision FROM state").get()?.["revision"] as number);
  file.close();
}
