import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Entry } from "./engine.ts";
import { openSqliteEngine } from "./sqlite-engine.ts";
import { openReplica } from "./sqlite-replica.ts";
import { inspectSnapshot, restoreSnapshot } from "./sqlite-restore.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "flotilla-replica-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const bytes = (text: string): Uint8Array => Buffer.from(text);
const NOW_MS = 1_700_000_000_000;

/** What a hub has that was started on the copy. */
async function restored(path: string): Promise<{ entries: string[]; revision: number }> {
  const target = join(folder, "restored.db");
  restoreSnapshot(path, target, NOW_MS);
  const engine = await openSqliteEngine({ path: target });
  const found: Entry[] = [];
  for await (const batch of engine.scan("")) found.push(...batch);
  const revision = await engine.revision();
  await engine.close();
  return { entries: found.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`), revision };
}

test("is restored like a snapshot, with revisions above all of the source", async () => {
  const path = join(folder, "standby.db");
  const replica = openReplica(path);

  replica.apply(
    [
      { key: "/a", revision: 7, value: bytes("1") },
      { key: "/b", revision: 9, value: bytes("2") },
    ],
    12,
  );
  replica.apply(
    [
      { key: "/a", revision: 15, value: bytes("3") },
      { key: "/b", revision: 16, value: null },
    ],
    16,
  );
  replica.close();

  expect(inspectSnapshot(path)).toMatchObject({ revision: 16, objects: 1 });
  const { entries, revision } = await restored(path);
  expect(entries).toEqual(["/a=3"]);
  expect(revision).toBeGreaterThan(1_000_000_000);
});

test("ignores what it already has, and continues where it was", () => {
  const path = join(folder, "standby.db");
  const first = openReplica(path);
  first.apply([{ key: "/a", revision: 5, value: bytes("new") }], 5);
  first.close();

  const again = openReplica(path);
  again.apply(
    [
      { key: "/a", revision: 3, value: bytes("old") },
      { key: "/a", revision: 4, value: null },
    ],
    6,
  );

  expect([again.revision, again.objects]).toEqual([6, 1]);
  again.close();
  expect(inspectSnapshot(path).objects).toBe(1);
});

test("keeps the former copy until a new one is complete", async () => {
  const path = join(folder, "standby.db");
  const replica = openReplica(path);
  replica.apply([{ key: "/a", revision: 5, value: bytes("former") }], 5);

  const abandoned = replica.begin();
  abandoned.add([{ key: "/b", revision: 8, value: bytes("half") }]);
  abandoned.abandon();
  const kept = replica.revision;
  const copy = replica.begin();
  copy.add([{ key: "/c", revision: 2, value: bytes("whole") }]);
  copy.complete(9);
  replica.apply([{ key: "/d", revision: 10, value: bytes("later") }], 10);
  replica.close();

  expect(kept).toBe(5);
  expect((await restored(path)).entries).toEqual(["/c=whole", "/d=later"]);
});

test("is used by one process at a time", () => {
  const path = join(folder, "standby.db");
  const replica = openReplica(path);

  expect(() => openReplica(path)).toThrow("another process");
  replica.close();
});
