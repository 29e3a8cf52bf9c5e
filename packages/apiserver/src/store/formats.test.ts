/**
 * Stores of every format that was ever written, as files: each was written by the program of its time. A new format gets a
 * file here in the commit that introduces it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Engine } from "./engine.ts";
import { openSqliteEngine } from "./sqlite-engine.ts";
import { inspectSnapshot, restoreSnapshot } from "./sqlite-restore.ts";

const FIXTURES = join(import.meta.dirname, "testdata");
const formats = readdirSync(FIXTURES)
  .map((name) => Number(/^format-(\d+)\.db\.gz$/.exec(name)?.[1]))
  .filter((format) => !Number.isNaN(format))
  .sort((a, b) => a - b);

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "flotilla-formats-"))));
afterEach(() => rmSync(folder, { recursive: true }));

function unpack(format: number): string {
  const path = join(folder, "store.db");
  writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, `format-${format}.db.gz`))));
  return path;
}

/** The objects by key, with the data of each ConfigMap. */
async function contentOf(engine: Engine): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for await (const batch of engine.scan(""))
    for (const { key, revision, value } of batch)
      found[`${key}@${revision}`] = (JSON.parse(Buffer.from(value).toString()) as { data: unknown }).data;
  return found;
}

const CONTENT = {
  "/core/configmaps/hub/default/a@3": { x: "2" },
  "/core/configmaps/hub/default/c@4": { text: "ä\u2028😀" },
  "/core/configmaps/hub/default/d@6": { x: "1" },
};

async function formatOfNewStore(): Promise<unknown> {
  const path = join(folder, "new.db");
  await (await openSqliteEngine({ path })).close();
  using database = new DatabaseSync(path, { readOnly: true });
  return database.prepare("PRAGMA user_version").get()?.["user_version"];
}

test("the newest fixture has the format that is written today", async () => {
  expect(formats.at(-1)).toBe(await formatOfNewStore());
  expect(formats).toEqual([1, 2]);
});

describe.each(formats)("a store of format %d", (format) => {
  test("is opened with its objects, revisions and history, and takes writes", async () => {
    const path = unpack(format);
    const first = await openSqliteEngine({ path });
    const content = await contentOf(first);
    const written = await first.commit({ key: "/e", expect: "absent", value: Buffer.from('{"data":5}') });
    const later: number[] = [];
    const ended = new AbortController();
    for await (const { changes, revision } of first.changes(2, ended.signal)) {
      later.push(...changes.map((change) => change.revision));
      if (revision >= 7) break;
    }
    ended.abort();
    await first.close();
    const again = await openSqliteEngine({ path });

    expect(content).toEqual(CONTENT);
    expect(written).toEqual({ ok: true, revision: 7 });
    expect(later).toEqual([3, 4, 5, 6, 7]);
    expect(await contentOf(again)).toEqual({ ...CONTENT, "/e@7": 5 });
    await again.close();
  });

  test("is restored as a snapshot", async () => {
    const path = unpack(format);
    const target = join(folder, "restored.db");

    const info = inspectSnapshot(path);
    restoreSnapshot(path, target, 1_700_000_000_000);
    const engine = await openSqliteEngine({ path: target });

    expect(info).toEqual({ revision: 6, objects: 3, files: 0 });
    expect(await contentOf(engine)).toEqual(CONTENT);
    await engine.close();
  });
});
