import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CompactedError } from "./errors.ts";
import { openSqliteEngine } from "./sqlite-engine.ts";
import { addFiles, inspectSnapshot, readFiles, restoreSnapshot } from "./sqlite-restore.ts";
import { writeSnapshot } from "./sqlite-snapshot.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flotilla-restore-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const at = (name: string): string => join(directory, name);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A store with two keys, and a snapshot of it with one file. */
async function makeSnapshot(): Promise<number> {
  const engine = await openSqliteEngine({ path: at("old.db") });
  await engine.commit({ key: "/a/", expect: "absent", value: bytes("1") });
  await engine.commit({ key: "/b/", expect: "absent", value: bytes("2") });
  await writeSnapshot(at("old.db"), at("copy"));
  addFiles(at("copy"), [{ path: "pki/ca.crt", content: bytes("certificate") }]);
  // Restoring the snapshot loses everything after it.
  await engine.commit({ key: "/c/", expect: "absent", value: bytes("3") });
  const revision = await engine.revision();
  await engine.close();
  return revision;
}

async function keysOf(path: string): Promise<string[]> {
  const engine = await openSqliteEngine({ path });
  const keys: string[] = [];
  for await (const batch of engine.scan("/")) keys.push(...batch.map(({ key }) => key));
  await engine.close();
  return keys;
}

test("a snapshot holds the objects and the files, and reports their number", async () => {
  await makeSnapshot();

  expect(inspectSnapshot(at("copy"))).toEqual({ revision: 2, objects: 2, files: 1 });
});

test("a restored store has the contents of the snapshot", async () => {
  await makeSnapshot();

  restoreSnapshot(at("copy"), at("new.db"), 0);

  expect(readFiles(at("copy")).map(({ path, content }) => [path, Buffer.from(content).toString()])).toEqual([
    ["pki/ca.crt", "certificate"],
  ]);
  expect(await keysOf(at("new.db"))).toEqual(["/a/", "/b/"]);
});

test("revisions of the lost future are never reused, and are expired", async () => {
  const lost = await makeSnapshot();
  restoreSnapshot(at("copy"), at("new.db"), 0);
  const engine = await openSqliteEngine({ path: at("new.db") });

  const outcome = await engine.commit({ key: "/d/", expect: "absent", value: bytes("4") });

  expect(outcome.ok && outcome.revision).toBeGreaterThan(lost);
  await expect(engine.changes(lost, new AbortController().signal)[Symbol.asyncIterator]().next()).rejects.toThrow(
    CompactedError,
  );
  await engine.close();
});

test("two restores of one snapshot never assign the same revision", async () => {
  await makeSnapshot();
  const revisions: number[] = [];
  for (const [name, nowMs] of [
    ["first.db", 2e12],
    ["second.db", 2e12 + 60_000],
  ] as const) {
    restoreSnapshot(at("copy"), at(name), nowMs);
    const engine = await openSqliteEngine({ path: at(name) });
    const outcome = await engine.commit({ key: "/d/", expect: "absent", value: bytes("4") });
    if (outcome.ok) revisions.push(outcome.revision);
    await engine.close();
  }

  expect((revisions[1] ?? 0) - (revisions[0] ?? 0)).toBe(60_000_000);
});

test("restoring a snapshot overwrites no existing store", async () => {
  await makeSnapshot();

  expect(() => restoreSnapshot(at("copy"), at("old.db"), 0)).toThrow("exists; move it away");
  expect(await keysOf(at("old.db"))).toEqual(["/a/", "/b/", "/c/"]);
});

test("a damaged snapshot is rejected by name", async () => {
  await makeSnapshot();
  const content = readFileSync(at("copy"));
  content.fill(0x5a, 8192, content.length);
  writeFileSync(at("bad"), content);
  writeFileSync(at("text"), "hello");

  expect(() => inspectSnapshot(at("bad"))).toThrow(/cannot use the store .*bad/);
  expect(() => inspectSnapshot(at("text"))).toThrow(/cannot use the store .*text/);
  expect(() => inspectSnapshot(at("missing"))).toThrow(`snapshot ${at("missing")} not found`);
});

test("a snapshot of a newer Flotilla is rejected", async () => {
  await makeSnapshot();
  using database = new DatabaseSync(at("copy"));
  database.exec("PRAGMA user_version = 99");

  expect(() => inspectSnapshot(at("copy"))).toThrow("written by a newer Flotilla (format 99)");
});
