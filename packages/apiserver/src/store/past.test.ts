/** A cache's history from before it was opened. */
import { setImmediate as nextTick } from "node:timers/promises";
import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import type { Cache, CacheEvent } from "./cache.ts";
import { createCache, type CacheOptions } from "./create-cache.ts";
import type { Engine } from "./engine.ts";
import { CompactedError, StoreError } from "./errors.ts";
import { createMemoryEngine } from "./memory-engine.ts";

const WEB = "/apps/deployments/hub/default/web";
const API = "/apps/deployments/hub/default/api";
const bytes = (text: string): Uint8Array => Buffer.from(text);

const opened: Cache[] = [];
async function open(
  options?: CacheOptions,
  engine: Engine = createMemoryEngine(),
): Promise<{ cache: Cache; engine: Engine }> {
  const cache = await createCache(engine, options);
  opened.push(cache);
  return { cache, engine };
}
afterEach(() => Promise.all(opened.splice(0).map((cache) => cache.close())));

/** An event with all its contents, to compare those of two caches. */
function inFull(events: readonly CacheEvent[]): unknown[] {
  const short = (entry: CacheEvent["entry"]): unknown =>
    entry && [entry.key, entry.revision, Buffer.from(entry.value).toString()];
  return events.map(({ revision, entry, previous }) => ({ revision, entry: short(entry), previous: short(previous) }));
}

test("a watcher resumes from before the cache was opened, with the value that each change replaced", async () => {
  const first = await open();
  await first.cache.write({ key: WEB, expect: "absent", value: bytes("1") });
  await first.cache.write({ key: API, expect: "absent", value: bytes("2") });
  await first.cache.write({ key: WEB, expect: 1, value: bytes("3") });
  await first.cache.write({ key: API, expect: 2, value: null });
  const { cache } = await open({}, first.engine);
  const seen: CacheEvent[] = [];

  await cache.recall(1);
  cache.watch("/apps/deployments/hub/", 1, (events) => seen.push(...events));
  await cache.write({ key: API, expect: "absent", value: bytes("5") });
  do await nextTick();
  while (!cache.isQuiet());

  expect(inFull(seen)).toEqual([
    { revision: 2, entry: [API, 2, "2"], previous: undefined },
    { revision: 3, entry: [WEB, 3, "3"], previous: [WEB, 1, "1"] },
    { revision: 4, entry: undefined, previous: [API, 2, "2"] },
    { revision: 5, entry: [API, 5, "5"], previous: undefined },
  ]);
});

test("nothing is recalled for watchers that start where the cache was opened", async () => {
  const engine = createMemoryEngine();
  await engine.commit({ key: WEB, expect: "absent", value: bytes("1") });
  const past = vi.spyOn(engine, "past");

  const { cache } = await open({}, engine);
  const waiting = [cache.recall(1), cache.recall(7)];

  expect(waiting).toEqual([undefined, undefined]);
  expect(past).not.toHaveBeenCalled();
});

test("the past is read only as far as requested, and once for concurrent requests", async () => {
  const engine = createMemoryEngine();
  for (let n = 0; n < 2000; n++) void engine.commit({ key: WEB, expect: "any", value: bytes("1") });
  await engine.commit({ key: API, expect: "any", value: bytes("1") });
  const past = vi.spyOn(engine, "past");
  const { cache } = await open({}, engine);

  await Promise.all([cache.recall(1900), cache.recall(1950), cache.recall(2000)]);
  const near = cache.compacted;
  await Promise.all([cache.recall(10), cache.recall(0), cache.recall(300)]);

  expect(near).toBeGreaterThan(1000);
  expect(cache.compacted).toBe(0);
  expect(past).toHaveBeenCalledTimes(2);
  expect(cache.eventsAfter("/", 0)).toHaveLength(2001);
});

test("a failure to read the past is returned to the requester, and the next request retries", async () => {
  const engine = createMemoryEngine();
  await engine.commit({ key: WEB, expect: "any", value: bytes("1") });
  const { cache } = await open({}, engine);
  vi.spyOn(engine, "past").mockImplementationOnce(() => {
    throw new StoreError("the disk is not there");
  });

  const failed = cache.recall(0);
  await expect(failed).rejects.toThrow("the disk is not there");
  await cache.recall(0);

  expect(cache.eventsAfter("/", 0)).toHaveLength(1);
});

test("changes that the engine has compacted, and those without room, are not recalled", async () => {
  const engine = createMemoryEngine();
  for (let n = 0; n < 6; n++) await engine.commit({ key: WEB, expect: "any", value: new Uint8Array(1000) });
  await engine.compact(2);
  const [compacted, few, small] = await Promise.all([
    open({}, engine),
    open({ historyLimit: 3 }, engine),
    open({ historyBytes: 2500 }, engine),
  ]);

  await Promise.all([compacted.cache.recall(0), few.cache.recall(0), small.cache.recall(0)]);

  expect([compacted, few, small].map(({ cache }) => cache.compacted)).toEqual([2, 3, 4]);
  expect(() => compacted.cache.watch("/apps/", 1, () => {})).toThrow(CompactedError);
});

test("the past is not joined to a history that has dropped its beginning", async () => {
  const engine = createMemoryEngine();
  for (let n = 0; n < 3; n++) await engine.commit({ key: WEB, expect: "any", value: bytes("1") });
  const { cache } = await open({ historyLimit: 2 }, engine);

  const recalled = cache.recall(1);
  await Promise.all([
    recalled,
    ...Array.from({ length: 5 }, () => cache.write({ key: WEB, expect: "any", value: bytes("2") })),
  ]);
  await cache.recall(1);

  expect(cache.compacted).toBe(6);
  expect(cache.eventsAfter("/", 6).map(({ revision }) => revision)).toEqual([7, 8]);
});

test("a cache that was opened later recalls exactly the events of one that received them live", async () => {
  const write = fc.record({
    key: fc.constantFrom("/a/b/x/1", "/a/b/x/2", "/a/b/y/1", "/a/c/x/1"),
    remove: fc.boolean(),
    waits: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { maxLength: 30 }),
      fc.array(write, { maxLength: 30 }),
      fc.nat(30),
      async (before, after, asked) => {
        const witness = await open();
        const play = async (writes: typeof before): Promise<void> => {
          for (const [n, { key, remove, waits }] of writes.entries()) {
            const written = witness.engine.commit({ key, expect: "any", value: remove ? null : bytes(`${n}`) });
            if (waits) await written;
          }
        };
        await play(before);
        const { cache } = await open({}, witness.engine);

        // The past is requested during further writes.
        const playing = play(after);
        await cache.recall(asked);
        await playing;
        await cache.recall(0);
        await Promise.all(
          [cache, witness.cache].map(async (each) =>
            each.whenAt(await witness.engine.revision(), AbortSignal.timeout(5000)),
          ),
        );

        expect(inFull(cache.eventsAfter("/", 0))).toEqual(inFull(witness.cache.eventsAfter("/", 0)));
      },
    ),
    { numRuns: 50 },
  );
});
