import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addFiles, openSqliteEngine, writeSnapshot } from "@flotilla/apiserver";
import { snapshots } from "./snapshots.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "flotilla-snapshots-"));
});
afterEach(() => rm(directory, { recursive: true }));
const at = (name: string): string => join(directory, name);

/** A data directory with an open store, as in a running fleet. */
async function makeData(): Promise<{ close(): Promise<void> }> {
  await mkdir(at("fleet/pki"), { recursive: true });
  await writeFile(at("fleet/pki/ca.key"), "key");
  const engine = await openSqliteEngine({ path: at("fleet/flotilla.db") });
  await engine.commit({ key: "/a/", expect: "absent", value: new TextEncoder().encode("1") });
  return engine;
}

test("a fleet is saved while it runs and restored with its keys", async () => {
  const running = await makeData();

  const saved = await snapshots.save({ data: at("fleet") }, at("copy"));
  const restored = await snapshots.restore({ data: at("second") }, at("copy"));

  expect(saved).toEqual({ revision: 1, objects: 1, files: 1 });
  expect(restored).toEqual(saved);
  expect(await readFile(at("second/pki/ca.key"), "utf8")).toBe("key");
  for (const secret of ["copy", "second/flotilla.db", "second/pki/ca.key"])
    expect((await stat(at(secret))).mode & 0o077, secret).toBe(0);
  await running.close();
});

test("the data directory records its last snapshot, and a snapshot succeeds even if that fails", async () => {
  const running = await makeData();

  await snapshots.save({ data: at("fleet") }, at("first"));
  const noted = await readFile(at("fleet/last-snapshot"), "utf8");
  await rm(at("fleet/last-snapshot"));
  await mkdir(at("fleet/last-snapshot"));
  const second = await snapshots.save({ data: at("fleet") }, at("second"));

  expect(noted).toBe(`${at("first")}\n`);
  expect(second).toMatchObject({ revision: 1 });
  await running.close();
});

test("a snapshot overwrites no existing file", async () => {
  const running = await makeData();
  await snapshots.save({ data: at("fleet") }, at("copy"));

  await expect(snapshots.save({ data: at("fleet") }, at("copy"))).rejects.toThrow("exists; choose another name");
  await expect(snapshots.restore({ data: at("fleet") }, at("copy"))).rejects.toThrow("restore into an empty directory");
  await expect(snapshots.save({ data: at("nowhere") }, at("other"))).rejects.toThrow("contains no store");
  await expect(snapshots.save({ data: at("fleet") }, at("no/such/folder"))).rejects.toThrow(
    `folder ${at("no/such")} does not exist`,
  );
  await running.close();
});

test("a snapshot cannot write outside the data directory", async () => {
  const running = await makeData();
  await writeSnapshot(at("fleet/flotilla.db"), at("hostile"));
  addFiles(at("hostile"), [{ path: "pki/../../escaped", content: new Uint8Array() }]);

  await expect(snapshots.restore({ data: at("second") }, at("hostile"))).rejects.toThrow("does not belong there");
  await running.close();
});
