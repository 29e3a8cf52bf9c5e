import { mkdtemp, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Change, ChangeBatch, Engine } from "./engine.ts";
import { StoreError } from "./errors.ts";
import { connectSqliteEngine, openSqliteEngine, type SqliteEngineOptions } from "./sqlite-engine.ts";

let directory: string;
let path: string;
const opened: Engine[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "flotilla-sqlite-"));
  path = join(directory, "store.db");
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((engine) => engine.close()));
  await rm(directory, { recursive: true });
});
async function open(options: SqliteEngineOptions): Promise<Engine> {
  const engine = await openSqliteEngine(options);
  opened.push(engine);
  return engine;
}
const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(7);
const rowsOf = (file: string): unknown => {
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database.prepare("SELECT count(*) AS rows FROM changes").get();
  database.close();
  return row?.["rows"];
};

const unusable: Record<string, { prepare: () => Promise<void>; want: RegExp }> = {
  "rejects a file that is not a database": {
    prepare: () => writeFile(path, "these are not the bytes of a database, whatever the name says".repeat(20)),
    want: /damaged or not a Flotilla store/,
  },
  "rejects a truncated file": {
    async prepare() {
      const engine = await openSqliteEngine({ path });
      await Promise.all(
        Array.from({ length: 200 }, (_, n) => engine.commit({ key: `/k${n}`, expect: "any", value: bytes(2000) })),
      );
      await engine.close();
      await truncate(path, 8192);
    },
    want: /the file is damaged/,
  },
  "rejects the database of another program": {
    async prepare() {
      const database = new DatabaseSync(path);
      database.exec("CREATE TABLE songs (title TEXT)");
      database.close();
    },
    want: /the database of another program/,
  },
  "rejects the store of a newer Flotilla": {
    async prepare() {
      await (await openSqliteEngine({ path })).close();
      const database = new DatabaseSync(path);
      database.exec("PRAGMA user_version = 99");
      database.close();
    },
    want: /newer Flotilla \(format 99\)/,
  },
  "rejects a directory that does not exist": {
    async prepare() {
      path = join(directory, "missing", "store.db");
    },
    want: /no such file or directory/,
  },
  "rejects a store that this process already has open": {
    async prepare() {
      await open({ path });
    },
    want: /another process uses it/,
  },
};
test.each(Object.entries(unusable))("%s", async (_behaviour, { prepare, want }) => {
  await prepare();

  const opening = openSqliteEngine({ path });

  await expect(opening).rejects.toThrow(want);
  await expect(opening).rejects.toBeInstanceOf(StoreError);
});

test("a rejected second open does not affect the first", async () => {
  const engine = await open({ path });

  await expect(openSqliteEngine({ path })).rejects.toThrow(StoreError);
  await expect(openSqliteEngine({ path })).rejects.toThrow(StoreError);

  expect(await engine.commit({ key: "/a", expect: "absent", value: bytes(1) })).toEqual({ ok: true, revision: 1 });
});

test("every pending and later commit rejects when the worker dies", async () => {
  const worker = new Worker(new URL("./sqlite-worker.ts", import.meta.url), {
    workerData: { path, historyLimit: 100 },
  });
  const engine = await connectSqliteEngine(worker, { path, maxWaitingBytes: 1000 * 1000 });
  const follower = engine.changes(0, new AbortController().signal)[Symbol.asyncIterator]().next();

  const pending = Array.from({ length: 10 }, (_, n) =>
    engine.commit({ key: `/k${n}`, expect: "any", value: bytes(1) }),
  );
  const outcomes = await Promise.allSettled([...pending, follower, worker.terminate()]);

  expect(outcomes.slice(0, -1).map(({ status }) => status)).toEqual(Array.from({ length: 11 }, () => "rejected"));
  await expect(engine.commit({ key: "/late", expect: "any", value: bytes(1) })).rejects.toThrow(
    /the thread of the store .* exited; restart/,
  );
  await expect(engine.close()).resolves.toBeUndefined();
});

if (process.platform === "win32") process.stdout.write("skipped: Windows has no file modes\n");
test.skipIf(process.platform === "win32")("only the owner can read the files of a store", async () => {
  const engine = await open({ path });
  await engine.commit({ key: "/core/secrets/hub/default/token", expect: "absent", value: bytes(10) });
  await engine.snapshot(join(directory, "copy.db"));

  const modes = await Promise.all(
    ["store.db", "store.db-wal", "store.db-shm", "copy.db"].map(
      async (name) => (await stat(join(directory, name))).mode & 0o777,
    ),
  );

  expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
});

test("a snapshot does not overwrite a file", async () => {
  const engine = await open({ path });

  await expect(engine.snapshot(path)).rejects.toMatchObject({
    message: expect.stringContaining("writing a snapshot of") as string,
    cause: expect.objectContaining({ message: "the file already exists; choose another name" }) as Error,
  });
});

test("the log on disk stays limited while a key is rewritten", async () => {
  const engine = await open({ path, historyLimit: 10 });

  for (let round = 0; round < 5; round++) {
    await Promise.all(
      Array.from({ length: 100 }, () => engine.commit({ key: "/a", expect: "any", value: bytes(100) })),
    );
  }
  for (let n = 0; n < 20; n++)
    await engine.commit({ key: n % 2 ? "/b" : "/c", expect: "any", value: n > 15 ? null : bytes(10) });

  // Ten changes, and the row that the oldest of them replaced.
  expect(rowsOf(path)).toBeLessThanOrEqual(14);
});

test("a follower that falls behind the in-memory changes continues from disk", async () => {
  const engine = await open({ path });
  const total = 6000;
  const follower = engine.changes(0, new AbortController().signal)[Symbol.asyncIterator]();

  await Promise.all(
    Array.from({ length: total }, (_, n) => engine.commit({ key: `/k${n % 100}`, expect: "any", value: bytes(8) })),
  );
  const seen: Change[] = [];
  while (seen.length < total) {
    const { value } = await follower.next();
    seen.push(...((value as ChangeBatch | undefined)?.changes ?? []));
  }
  await follower.return?.();

  expect(seen.map(({ revision }) => revision)).toEqual(Array.from({ length: total }, (_, n) => n + 1));
});

test("a value larger than a message is stored", async () => {
  const engine = await open({ path });
  const large = bytes(3 * 1024 * 1024);

  const outcomes = await Promise.all(
    ["/a", "/b", "/c"].map((key) => engine.commit({ key, expect: "absent", value: large })),
  );

  expect(outcomes).toEqual([1, 2, 3].map((revision) => ({ ok: true, revision })));
  expect(large.byteLength).toBe(3 * 1024 * 1024);
});

test("writes are rejected when too many wait for the disk, and accepted again later", async () => {
  const engine = await open({ path, maxWaitingBytes: 10_000 });

  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, n) => engine.commit({ key: `/k${n}`, expect: "any", value: bytes(800) })),
  );
  const later = await engine.commit({ key: "/later", expect: "absent", value: bytes(800) });

  const accepted = outcomes.filter(({ status }) => status === "fulfilled").length;
  expect(accepted).toBe(10);
  expect(later).toEqual({ ok: true, revision: 11 });
});
