/** Checking and repairing a store whose process is stopped. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SqliteDatabase } from "./sqlite-database.ts";
import { checkStore, isDamaged, repairStore, type StoreReport } from "./sqlite-repair.ts";
import { writeSnapshot } from "./sqlite-snapshot.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flotilla-repair-"));
  path = join(directory, "store.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (): SqliteDatabase => new SqliteDatabase({ path, historyLimit: 10_000 });
const key = (name: string): string => `/core/configmaps/hub/default/${name}`;
function write(values: Record<string, string | null>): void {
  const database = open();
  database.commit(
    Object.entries(values).map(([name, value]) => ({
      key: key(name),
      expect: "any",
      value: value === null ? null : Buffer.from(value),
    })),
  );
  database.close();
}
/** Revisions: a 1 and 4, b 2 and 5, c 3, d 6 and its deletion 7. */
function writeStore(): void {
  write({ a: "a1", b: "b1", c: "c1" });
  write({ a: "a2", b: "b2", d: "d1" });
  write({ d: null });
}
function change(sql: string, ...values: (string | number)[]): void {
  using database = new DatabaseSync(path);
  database.prepare(sql).run(...values);
}
const check = (snapshot?: string): StoreReport => checkStore({ path, snapshot, onProgress: () => undefined });
const repair = (snapshot?: string): ReturnType<typeof repairStore> =>
  repairStore({ path, snapshot, nowMs: Date.UTC(2026, 0, 2, 3, 4, 5), onProgress: () => undefined });
function contents(): Record<string, string> {
  const database = open();
  const scan = database.openScan("");
  const found: Record<string, string> = {};
  for (let entry = scan.next(); entry; entry = scan.next())
    found[entry.key.slice(key("").length)] = Buffer.from(entry.value).toString();
  scan.close();
  database.close();
  return found;
}

test("an intact store has no problems, and is not changed by a check", () => {
  writeStore();

  const report = check();

  expect(isDamaged(report)).toBe(false);
  expect(report).toMatchObject({ objects: 3, rows: 7, revision: 7, damaged: [], structure: [], damagedHistory: 0 });
  expect(contents()).toEqual({ a: "a2", b: "b2", c: "c1" });
});

const DAMAGE_VALUE = "UPDATE changes SET value = CAST('?' AS BLOB) WHERE revision = ?";
interface RepairCase {
  damage: () => void;
  /** Object, source and revision of each remedy. */
  found: [string, string, number][];
  history?: number;
  left: Record<string, string>;
}
const cases: Record<string, RepairCase> = {
  "a damaged value is restored from the newest intact former value": {
    damage: () => change(DAMAGE_VALUE, 4),
    found: [["configmaps default/a of hub", "history", 1]],
    left: { a: "a1", b: "b2", c: "c1" },
  },
  "a damaged value without a former one has no copy": {
    damage: () => change(DAMAGE_VALUE, 3),
    found: [["configmaps default/c of hub", "nothing", 0]],
    left: { a: "a2", b: "b2" },
  },
  "a row that is gone counts as a damaged value": {
    damage: () => change("DELETE FROM changes WHERE revision = 4"),
    found: [["configmaps default/a of hub", "history", 1]],
    left: { a: "a1", b: "b2", c: "c1" },
  },
  "a lost entry is restored from the log without loss": {
    damage: () => change("DELETE FROM current WHERE key = ?", key("a")),
    found: [["configmaps default/a of hub", "log", 4]],
    left: { a: "a2", b: "b2", c: "c1" },
  },
  "an entry with a changed key is restored under the right key, and no other object appears": {
    damage: () => change("UPDATE current SET key = ? WHERE key = ?", key("zz"), key("a")),
    found: [["configmaps default/a of hub", "log", 4]],
    left: { a: "a2", b: "b2", c: "c1" },
  },
  "an entry that names an older revision is restored from the log": {
    damage: () => change("UPDATE current SET revision = 1 WHERE key = ?", key("a")),
    found: [["configmaps default/a of hub", "log", 4]],
    left: { a: "a2", b: "b2", c: "c1" },
  },
  "a damaged former value affects no object": {
    damage: () => change(DAMAGE_VALUE, 1),
    found: [],
    history: 1,
    left: { a: "a2", b: "b2", c: "c1" },
  },
  "a damaged deletion does not bring the object back": {
    damage: () => change(DAMAGE_VALUE, 7),
    found: [],
    history: 1,
    left: { a: "a2", b: "b2", c: "c1" },
  },
  "a damaged state is computed again": {
    damage: () => change("UPDATE state SET revision = 3"),
    found: [],
    left: { a: "a2", b: "b2", c: "c1" },
  },
};
test.each(Object.entries(cases))("%s", (_behaviour, { damage, found, history = 0, left }) => {
  writeStore();
  damage();

  const report = check();
  const result = repair();

  expect(isDamaged(report)).toBe(true);
  expect(report.damaged.map(({ object, from, revision }) => [object, from, revision])).toEqual(found);
  expect(report.damagedHistory).toBe(history);
  expect(contents()).toEqual(left);
  expect(isDamaged(check())).toBe(false);
  expect(result).toEqual({ objects: Object.keys(left).length, keptAs: `${path}.damaged-20260102T030405Z` });
  expect(existsSync(result.keptAs ?? "")).toBe(true);
});

test("a damaged object is restored from a snapshot if that has a newer value than the history", async () => {
  writeStore();
  await writeSnapshot(path, join(directory, "copy"));
  write({ b: "b3" });
  change(DAMAGE_VALUE, 4);
  change(DAMAGE_VALUE, 8);

  const report = check(join(directory, "copy"));
  repair(join(directory, "copy"));

  expect(report.damaged.map(({ object, from, revision }) => [object, from, revision])).toEqual([
    ["configmaps default/a of hub", "snapshot", 4],
    ["configmaps default/b of hub", "history", 5],
  ]);
  expect(contents()).toEqual({ a: "a2", b: "b2", c: "c1" });
});

test("a file with a destroyed page is reported as damaged in its structure, and repaired with a snapshot", async () => {
  const values = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`c${index}`, `${index}:${"x".repeat(500)}`]),
  );
  write(values);
  await writeSnapshot(path, join(directory, "copy"));
  destroyPageWith("100:xxxx");

  const report = check(join(directory, "copy"));
  repair(join(directory, "copy"));

  expect(report.structure.length).toBeGreaterThan(0);
  expect(isDamaged(report)).toBe(true);
  expect(contents()).toEqual(values);
  expect(check().structure).toEqual([]);
});

/** Overwrites the page of the file that contains this text. */
function destroyPageWith(text: string): void {
  const bytes = readFileSync(path);
  const pageSize = bytes.readUInt16BE(16);
  const page = Math.floor(bytes.indexOf(text) / pageSize);
  writeFileSync(path, bytes.fill(0xff, page * pageSize, (page + 1) * pageSize));
}

test("an empty store is restored from a snapshot as a whole", async () => {
  writeStore();
  await writeSnapshot(path, join(directory, "copy"));
  truncateSync(path, 0);

  const report = check();
  repair(join(directory, "copy"));

  expect(report).toMatchObject({ structure: ["the file is missing or empty"], lostUpTo: 7 });
  expect(contents()).toEqual({ a: "a2", b: "b2", c: "c1" });
});

test("a repaired store never assigns a revision of the damaged one again", () => {
  writeStore();
  change("UPDATE state SET revision = 3");

  repair();
  write({ e: "e1" });

  expect(check().revision).toBeGreaterThan(1_000_000_000);
});

test("a check changes no file and rejects a store that is in use", () => {
  writeStore();
  change(DAMAGE_VALUE, 4);
  const before = readdirSync(directory).toSorted();
  check();
  const after = readdirSync(directory).toSorted();
  const database = open();

  expect(() => check()).toThrow("another process uses it");
  expect(after.filter((name) => !/-(?:wal|shm)$/.test(name))).toEqual(before);
  database.close();
});
