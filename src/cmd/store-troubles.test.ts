import { expect, test } from "vitest";
import { silentLog } from "../base/index.ts";
import { createMemoryEngine, StoreError, StoreWriteError } from "../store/index.ts";
import type { Engine, Write } from "../store/index.ts";
import { tellStoreTroubles } from "./store-troubles.ts";

const write = (key: string): Write => ({ key, expect: "any", value: new Uint8Array([1]) });
const FULL = "cannot use the store /data/flotilla.db: the disk is full; free some space";

/** A disk that fills up and has room again. */
function makeDisk(): { engine: Engine; told: string[]; failure: Error | undefined } {
  const memory = createMemoryEngine();
  const disk = { told: [] as string[], failure: undefined as Error | undefined, engine: memory };
  disk.engine = tellStoreTroubles({ ...memory, commit: (asked) => (disk.failure ? Promise.reject(disk.failure) : memory.commit(asked)) }, silentLog, (text) => void disk.told.push(text));
  return disk;
}

test("a full disk is told once, writers are refused, and what was written before stays", async () => {
  const disk = makeDisk();
  await disk.engine.commit(write("/a"));
  disk.failure = new StoreWriteError(FULL);

  await expect(disk.engine.commit(write("/b"))).rejects.toThrow("the disk is full");
  await expect(disk.engine.commit(write("/c"))).rejects.toThrow("the disk is full");

  expect(disk.told).toEqual([FULL]);
  const entries = await Array.fromAsync(disk.engine.scan("/"));
  expect(entries.flat().map(({ key }) => key)).toEqual(["/a"]);
});

test("when there is room again that is told, and a second time is told anew", async () => {
  const disk = makeDisk();
  disk.failure = new StoreWriteError(FULL);
  await expect(disk.engine.commit(write("/a"))).rejects.toBeInstanceOf(StoreError);
  disk.failure = undefined;

  await disk.engine.commit(write("/b"));
  await disk.engine.commit(write("/c"));
  disk.failure = new StoreWriteError(FULL);
  await expect(disk.engine.commit(write("/d"))).rejects.toBeInstanceOf(StoreError);

  expect(disk.told).toEqual([FULL, "the store takes writes again", FULL]);
});

test("a write that is refused for what it is says nothing about the disk", async () => {
  const disk = makeDisk();
  disk.failure = new StoreError("refusing to write a key");

  await expect(disk.engine.commit(write("/a"))).rejects.toBeInstanceOf(StoreError);

  expect(disk.told).toEqual([]);
});
