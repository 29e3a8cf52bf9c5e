import { expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import {
  createMemoryEngine,
  encryptEngine,
  identityProvider,
  readEncryptionConfiguration,
  StoreError,
  StoreWriteError,
} from "@flotilla/apiserver";
import type { Change, Engine, Write } from "@flotilla/apiserver";
import { watchStoreProblems } from "./store-problems.ts";

const write = (key: string): Write => ({ key, expect: "any", value: new Uint8Array([1]) });
const settled = (): Promise<unknown> => new Promise((resolve) => void setImmediate(resolve));
const FULL = "cannot use the store /data/flotilla.db: the disk is full; free some space";

const sameEngine = (engine: Engine): Engine => engine;

/** A fake disk that fills up and gets space again. */
function makeDisk(wrap = sameEngine) {
  const memory = createMemoryEngine();
  const clock = createFakeClock();
  const reported: string[] = [];
  const disk = { clock, reported, failure: undefined as Error | undefined };
  const commit: Engine["commit"] = (asked) => (disk.failure ? Promise.reject(disk.failure) : memory.commit(asked));
  return Object.assign(
    disk,
    watchStoreProblems(wrap({ ...memory, commit }), clock, silentLog, (text) => void reported.push(text)),
  );
}

test("a full disk is reported once, writes are rejected, and earlier writes stay", async () => {
  const disk = makeDisk();
  await disk.engine.commit(write("/a"));
  disk.failure = new StoreWriteError(FULL);

  await expect(disk.engine.commit(write("/b"))).rejects.toThrow("the disk is full");
  await expect(disk.engine.commit(write("/c"))).rejects.toThrow("the disk is full");

  expect(disk.reported).toEqual([FULL]);
  const entries = await Array.fromAsync(disk.engine.scan("/"));
  expect(entries.flat().map(({ key }) => key)).toEqual(["/a"]);
});

test("the recovery is reported, and a second full disk is reported again", async () => {
  const disk = makeDisk();
  disk.failure = new StoreWriteError(FULL);
  await expect(disk.engine.commit(write("/a"))).rejects.toBeInstanceOf(StoreError);
  disk.failure = undefined;

  await disk.engine.commit(write("/b"));
  await disk.engine.commit(write("/c"));
  disk.failure = new StoreWriteError(FULL);
  await expect(disk.engine.commit(write("/d"))).rejects.toBeInstanceOf(StoreError);

  expect(disk.reported).toEqual([FULL, "the store accepts writes again", FULL]);
});

test("a write rejected for its content does not count as a disk failure", async () => {
  const disk = makeDisk();
  disk.failure = new StoreError("refusing to write a key");

  await expect(disk.engine.commit(write("/a"))).rejects.toBeInstanceOf(StoreError);

  expect(disk.reported).toEqual([]);
});

test("while the disk is full, takesWrites is false", async () => {
  const disk = makeDisk();
  await disk.engine.commit(write("/a"));
  const before = disk.takesWrites();
  disk.failure = new StoreWriteError(FULL);

  await expect(disk.engine.commit(write("/b"))).rejects.toBeInstanceOf(StoreError);

  expect([before, disk.takesWrites()]).toEqual([true, false]);
});

test("free space is noticed even without writes, and the trial write leaves nothing behind", async () => {
  const disk = makeDisk();
  disk.failure = new StoreWriteError(FULL);
  await expect(disk.engine.commit(write("/a"))).rejects.toBeInstanceOf(StoreError);
  disk.clock.advance(5_000);
  await settled();
  const still = disk.takesWrites();
  disk.failure = undefined;

  disk.clock.advance(5_000);
  await settled();

  expect([still, disk.takesWrites()]).toEqual([false, true]);
  expect(disk.reported).toEqual([FULL, "the store accepts writes again"]);
  expect((await Array.fromAsync(disk.engine.scan("/"))).flat()).toEqual([]);
});

test("a write rejected for its revision does not count as a recovery", async () => {
  const disk = makeDisk();
  await disk.engine.commit(write("/a"));
  disk.failure = new StoreWriteError(FULL);
  await expect(disk.engine.commit(write("/b"))).rejects.toBeInstanceOf(StoreError);
  disk.failure = undefined;

  await disk.engine.commit({ ...write("/a"), expect: "absent" });
  await disk.engine.commit({ key: "/none", expect: "any", value: null });

  expect(disk.takesWrites()).toBe(false);
});

test("where everything is encrypted, a follower of the store can read the trial write", async () => {
  const key = Buffer.alloc(32, 1).toString("base64");
  const rules = readEncryptionConfiguration(
    `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: [{resources: ["*.*"], ` +
      `providers: [{aesgcm: {keys: [{name: k, secret: "${key}"}]}}]}]`,
    "keys.yaml",
    () => identityProvider,
  );
  const disk = makeDisk((engine) => encryptEngine(engine, rules));
  disk.failure = new StoreWriteError(FULL);
  await expect(disk.engine.commit(write("/core/secrets/hub/a"))).rejects.toBeInstanceOf(StoreError);
  disk.failure = undefined;
  disk.clock.advance(5_000);
  await settled();

  const first = await disk.engine.changes(0, new AbortController().signal)[Symbol.asyncIterator]().next();

  const { changes } = first.value as { changes: Change[] };
  expect(changes.map(({ value }) => value && value.every((byte) => byte === 0))).toEqual([true, null]);
});

test("values that another key encrypts are outdated behind the watched store, too", async () => {
  const disk = makeDisk((engine) => ({ ...engine, isOutdated: (key) => key === "/old" }));

  expect(["/old", "/new"].map((key) => disk.engine.isOutdated?.(key))).toEqual([true, false]);
});
