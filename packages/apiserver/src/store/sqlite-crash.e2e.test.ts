/** The state after `kill -9` during writes: every acknowledged write, and no lock. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteEngine } from "./sqlite-engine.ts";

let directory: string;
let child: ChildProcess;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "flotilla-crash-"));
});
afterEach(async () => {
  child.kill("SIGKILL");
  await rm(directory, { recursive: true });
});

/** Keys that the writer printed; `until` decides after each whether to kill it. */
async function keysOfKilledWriter(path: string, until: (count: number) => Promise<boolean>): Promise<string[]> {
  const writer = fileURLToPath(new URL("./testdata/sqlite-writer.ts", import.meta.url));
  child = spawn(process.execPath, [writer, path], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const acknowledged: string[] = [];
  if (!child.stdout) throw new Error("the writer has no output");
  for await (const line of createInterface(child.stdout)) {
    acknowledged.push(line);
    if (await until(acknowledged.length)) child.kill("SIGKILL");
  }
  await exited;
  // The kill may have cut the last line.
  return acknowledged.slice(0, -1);
}

test("a store whose process is killed during writes holds every acknowledged write", async () => {
  const path = join(directory, "store.db");

  const acknowledged = await keysOfKilledWriter(path, async (count) => count >= 1500);
  const engine = await openSqliteEngine({ path });
  const found = new Set<string>();
  for await (const batch of engine.scan("/core/configmaps/")) for (const { key } of batch) found.add(key);
  const revision = await engine.revision();
  await engine.close();

  expect(acknowledged.length).toBeGreaterThan(1000);
  expect(acknowledged.filter((key) => !found.has(key))).toEqual([]);
  expect(revision).toBe(found.size);
});

test("a second process cannot open the store until the first has exited or was killed", async () => {
  const path = join(directory, "store.db");
  const refusals: unknown[] = [];

  await keysOfKilledWriter(path, async (count) => {
    if (count === 1) await openSqliteEngine({ path }).catch((error: unknown) => refusals.push(error));
    return count >= 1;
  });
  const engine = await openSqliteEngine({ path });
  await engine.close();

  expect(String(refusals[0])).toMatch(
    /cannot use the store .*store\.db: another process uses it; stop that process, or choose another data directory/,
  );
});
