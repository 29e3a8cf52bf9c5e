/** Damaged files: what was not written by the engine is found, and never served. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCache } from "./create-cache.ts";
import { DamagedStoreError } from "./errors.ts";
import { SqliteDatabase } from "./sqlite-database.ts";
import { openSqliteEngine } from "./sqlite-engine.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flotilla-damage-"));
  path = join(directory, "store.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const OBJECTS = 40;
const keyOf = (n: number): string => `/core/configmaps/hub/default/c${n}`;
const valueOf = (n: number, version: number): string =>
  JSON.stringify({ data: { n: String(n), version, text: `the value of ${n} `.repeat(8) } });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const open = (): SqliteDatabase => new SqliteDatabase({ path, historyLimit: 10_000 });

/** A store in which every object was written twice, closed. */
function writeStore(): void {
  const database = open();
  for (const version of [1, 2])
    database.commit(
      Array.from({ length: OBJECTS }, (_, n) => ({ key: keyOf(n), expect: "any", value: bytes(valueOf(n, version)) })),
    );
  database.close();
}

function change(sql: string, ...values: (string | number)[]): void {
  using database = new DatabaseSync(path);
  database.prepare(sql).run(...values);
}

/** All entries, or the error that opening or loading the store reported. */
function load(): Map<string, string> | Error {
  let database: SqliteDatabase | undefined;
  try {
    database = open();
    const scan = database.openScan("");
    try {
      const found = new Map<string, string>();
      for (let entry = scan.next(); entry; entry = scan.next()) found.set(entry.key, text(entry.value));
      return found;
    } finally {
      scan.close();
    }
  } catch (error) {
    return error as Error;
  } finally {
    database?.close();
  }
}
const text = (value: Uint8Array): string => Buffer.from(value).toString();
const intact = (): Map<string, string> =>
  new Map(
    Array.from({ length: OBJECTS }, (_, n) => [keyOf(n), valueOf(n, 2)] as const).toSorted(([a], [b]) =>
      a < b ? -1 : 1,
    ),
  );

test("of every byte that is flipped, the store reports the damage or serves exactly what was written", () => {
  writeStore();
  const original = readFileSync(path);
  const want = intact();
  let reported = 0;
  const wrong: number[] = [];

  // A prime step visits all parts of the pages.
  for (let offset = 100; offset < original.length; offset += 307) {
    const damaged = Buffer.from(original);
    damaged[offset] = (damaged[offset] ?? 0) ^ (1 << (offset % 8));
    writeFileSync(path, damaged);
    for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
    const found = load();
    if (found instanceof Error) reported += 1;
    else if (!isDeepStrictEqual(found, want)) wrong.push(offset);
  }

  expect(wrong).toEqual([]);
  expect(reported).toBeGreaterThan(20);
});

const damages: Record<string, { damage: () => void; want: RegExp }> = {
  "a changed value": {
    damage: () => change("UPDATE changes SET value = CAST('{}' AS BLOB) WHERE revision = ?", OBJECTS + 1),
    want: /1 object is damaged: configmaps default\/c0 of hub$/,
  },
  "a value under another key": {
    damage: () => change("UPDATE current SET key = ? WHERE key = ?", keyOf(999), keyOf(3)),
    want: /damaged: configmaps default\/c999 of hub/,
  },
  "an older value in place of the newest": {
    damage: () => change("UPDATE current SET revision = ? WHERE key = ?", 4, keyOf(3)),
    want: /1 object is damaged: configmaps default\/c3 of hub$/,
  },
  "a lost value": {
    damage: () => change("DELETE FROM changes WHERE revision = ?", OBJECTS + 4),
    want: /1 object is damaged: configmaps default\/c3 of hub$/,
  },
  "a lost entry": {
    damage: () => change("DELETE FROM current WHERE key = ?", keyOf(3)),
    want: /39 of 40 objects were found/,
  },
  "many damaged values": {
    damage: () => change("UPDATE changes SET value = CAST('{}' AS BLOB)"),
    want: /40 objects are damaged: configmaps default\/c0 of hub, configmaps default\/c1 of hub, configmaps default\/c10 of hub and 37 more/,
  },
  "a changed state": {
    damage: () => change("UPDATE state SET revision = revision + 1"),
    want: /its state is damaged/,
  },
};
describe.each(Object.entries(damages))("%s", (_what, { damage, want }) => {
  test("is reported when the store is loaded, with the names of the objects", () => {
    writeStore();
    damage();

    const found = load();

    expect(found).toBeInstanceOf(DamagedStoreError);
    expect((found as Error).message).toMatch(want);
  });
});

test("a cache is not created from a damaged store", async () => {
  writeStore();
  change("UPDATE changes SET value = CAST('{}' AS BLOB) WHERE revision = ?", OBJECTS + 1);
  const engine = await openSqliteEngine({ path });

  const creating = createCache(engine);

  await expect(creating).rejects.toThrow(/1 object is damaged/);
  await expect(creating).rejects.toBeInstanceOf(DamagedStoreError);

  await engine.close();
});

const PAGE = { changes: 1000, bytes: 1024 * 1024 };

test("a damaged change is not returned from the history", () => {
  writeStore();
  change("UPDATE changes SET value = CAST('{}' AS BLOB) WHERE revision = ?", 5);
  const database = open();

  expect(() => database.changes(0, 1000)).toThrow("the change at revision 5 (configmaps default/c4 of hub) is damaged");
  expect(() => database.past(2 * OBJECTS, PAGE)).toThrow("the change at revision 5 (");

  expect(database.changes(5, 1000).length).toBe(2 * OBJECTS - 5);
  database.close();
});

test("a change that is missing from the history is reported", () => {
  writeStore();
  change("DELETE FROM changes WHERE revision = ?", 5);
  const database = open();

  expect(() => database.changes(0, 1000)).toThrow("the change at revision 5 is missing");
  expect(() => database.past(10, PAGE)).toThrow("the change at revision 5 is missing");

  database.close();
});

test("a watch from before a damaged history starts again instead of missing changes", async () => {
  writeStore();
  change("UPDATE changes SET value = CAST('{}' AS BLOB) WHERE revision = ?", 5);
  const engine = await openSqliteEngine({ path });
  const errors: unknown[] = [];
  const cache = await createCache(engine, { onError: (error) => errors.push(error) });

  await cache.recall(2);

  expect(() => cache.eventsAfter("/", 2)).toThrow(/compacted/);
  expect(cache.list("").length).toBe(OBJECTS);
  expect(String(errors[0])).toMatch(/the change at revision 5 .*is damaged/);
  await cache.close();
  await engine.close();
});

test("sweeping a damaged history removes no current value", () => {
  writeStore();
  change("UPDATE changes SET previous = ? WHERE revision = ?", OBJECTS + 9, OBJECTS + 4);
  const database = open();

  database.compact(2 * OBJECTS);
  while (database.needsSweep) database.sweep();
  database.close();

  // The change that was damaged is the current value of c3; that of c8 is still there.
  expect((load() as Error).message).toMatch(/1 object is damaged: configmaps default\/c3 of hub$/);
});

describe("a store whose acknowledged writes are gone", () => {
  const FILES = ["", "-wal", ".acknowledged"];
  const write = (database: SqliteDatabase, n: number): unknown =>
    database.commit([{ key: keyOf(n), expect: "any", value: bytes("{}") }]);

  /** A store with two revisions in the database and the others only in its log. */
  function writeLog(): void {
    const first = open();
    for (const n of [1, 2]) write(first, n);
    first.close();
    const second = open();
    for (const n of [3, 4, 5]) write(second, n);
    for (const end of FILES) copyFileSync(path + end, join(directory, `kept${end}`));
    second.close();
    for (const end of FILES) copyFileSync(join(directory, `kept${end}`), path + end);
  }

  const losses: Record<string, { lose: () => void; want: RegExp }> = {
    "an empty database": {
      lose() {
        truncateSync(path, 0);
        rmSync(`${path}-wal`);
      },
      want: /the store is empty, but writes up to revision 5 were acknowledged/,
    },
    "a missing database": {
      lose() {
        rmSync(path);
        rmSync(`${path}-wal`);
      },
      want: /the store is missing, but writes up to revision 5 were acknowledged/,
    },
    "a removed log": {
      lose: () => rmSync(`${path}-wal`),
      want: /it ends at revision 2, but writes up to revision 5 were acknowledged/,
    },
    "a cut log": {
      lose: () => truncateSync(`${path}-wal`, 60_000),
      want: /it ends at revision \d, but writes up to revision 5 were acknowledged/,
    },
  };
  test.each(Object.entries(losses))("%s is reported, and nothing is created", (_what, { lose, want }) => {
    writeLog();
    lose();
    const existed = existsSync(path);

    const found = load();

    expect(found).toBeInstanceOf(DamagedStoreError);
    expect((found as Error).message).toMatch(want);
    expect(existsSync(path)).toBe(existed);
  });

  test("a log that is intact is read, as after a crash", () => {
    writeLog();

    expect(load()).toEqual(new Map([1, 2, 3, 4, 5].map((n) => [keyOf(n), "{}"])));
  });

  test("a damaged note of the acknowledged revision does not make an intact store unusable", () => {
    writeLog();
    writeFileSync(`${path}.acknowledged`, "99 0\n");

    expect(load()).toHaveProperty("size", 5);
  });
});

test("a store of the first format gets checksums when it is opened, and keeps its objects and history", () => {
  writeStore();
  using database = new DatabaseSync(path);
  database.exec(`
    ALTER TABLE changes DROP COLUMN sum; ALTER TABLE current DROP COLUMN sum;
    ALTER TABLE state DROP COLUMN objects; ALTER TABLE state DROP COLUMN total; ALTER TABLE state DROP COLUMN sum;
    PRAGMA user_version = 1`);
  database.close();
  rmSync(`${path}.acknowledged`);

  const found = load();
  change("UPDATE changes SET value = CAST('{}' AS BLOB) WHERE revision = ?", OBJECTS + 1);

  expect(found).toEqual(intact());
  expect((load() as Error).message).toMatch(/1 object is damaged: configmaps default\/c0 of hub$/);
});
