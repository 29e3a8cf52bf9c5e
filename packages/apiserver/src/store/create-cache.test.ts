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
const text = (value: Uint8Array | undefined): string | undefined => (value ? Buffer.from(value).toString() : undefined);

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

async function untilQuiet(cache: Cache): Promise<void> {
  do await nextTick();
  while (!cache.isQuiet());
}

/** A watcher's events in short form: `+key@revision`, `~key@revision` for a change, `-key@revision` for a deletion. */
function describeEvents(events: readonly CacheEvent[]): string[] {
  return events.map(({ revision, entry, previous }) => {
    const sign = !entry ? "-" : previous ? "~" : "+";
    return `${sign}${(entry ?? previous)?.key.split("/").at(-1)}@${revision}`;
  });
}

test("a cache starts with the engine's entries", async () => {
  const engine = createMemoryEngine();
  await engine.commit({ key: WEB, expect: "absent", value: bytes("1") });
  await engine.commit({ key: API, expect: "absent", value: bytes("2") });

  const { cache } = await open({}, engine);

  expect(cache.list("/apps/deployments/").map(({ key }) => key)).toEqual([API, WEB]);
  expect(cache.revision).toBe(2);
  expect(cache.compacted).toBe(2);
});

test("a write is visible when it resolves", async () => {
  const { cache } = await open();

  const outcome = await cache.write({ key: WEB, expect: "absent", value: bytes("1") });

  expect(outcome).toEqual({ ok: true, revision: 1 });
  expect(text(cache.get(WEB)?.value)).toBe("1");
  expect(cache.revision).toBe(1);
});

test("writes through another user of the engine become visible too", async () => {
  const { cache, engine } = await open();

  const outcome = await engine.commit({ key: WEB, expect: "absent", value: bytes("1") });
  await cache.whenAt(outcome.ok ? outcome.revision : 0, AbortSignal.timeout(5000));

  expect(text(cache.get(WEB)?.value)).toBe("1");
});

test("a failed expectation resolves with the current entry", async () => {
  const { cache } = await open();
  await cache.write({ key: WEB, expect: "absent", value: bytes("1") });

  const outcome = await cache.write({ key: WEB, expect: 7, value: bytes("2") });

  expect(outcome).toEqual({ ok: false, current: { key: WEB, revision: 1, value: bytes("1") } });
  expect(text(cache.get(WEB)?.value)).toBe("1");
});

const lostGuards: Record<string, { value: Uint8Array | null; want: string | undefined }> = {
  "a failed guard makes the change that failed it visible": { value: bytes("2"), want: "2" },
  "a failed guard makes the deletion that failed it visible": { value: null, want: undefined },
};
test.each(Object.entries(lostGuards))("%s", async (_behaviour, { value, want }) => {
  const { cache, engine } = await open();
  await cache.write({ key: WEB, expect: "absent", value: bytes("1") });

  // Another process writes: this cache learns of it only from the changes.
  void engine.commit({ key: WEB, expect: 1, value });
  const guards = [{ key: WEB, expect: 1 }];
  const outcome = await cache.write({ key: API, expect: "absent", value: bytes("1"), guards });

  expect(outcome).toEqual({ ok: false, failedGuard: WEB, revision: 2 });
  expect(text(cache.get(WEB)?.value)).toBe(want);
  expect(cache.get(API)).toBeUndefined();
});

test("a failed expectation on a deleted key makes the deletion visible", async () => {
  const { cache, engine } = await open();
  await cache.write({ key: WEB, expect: "absent", value: bytes("1") });

  const removal = engine.commit({ key: WEB, expect: "any", value: null });
  const outcome = await cache.write({ key: WEB, expect: 1, value: bytes("2") });

  await removal;
  expect(outcome).toEqual({ ok: false });
  expect(cache.get(WEB)).toBeUndefined();
});

test("a writer's memo is attached to the new entry and not to the next one", async () => {
  const { cache } = await open();
  const parsed = { replicas: 1 };

  await cache.write({ key: WEB, expect: "absent", value: bytes("1") }, parsed);
  const first = cache.get(WEB);
  await cache.write({ key: WEB, expect: 1, value: bytes("2") });

  expect(first?.memo).toBe(parsed);
  expect(cache.get(WEB)?.memo).toBeUndefined();
});

test("watchers receive events in order, in batches, and never in the tick of the caller", async () => {
  const { cache } = await open();
  const batches: string[][] = [];
  cache.watch("/apps/deployments/hub/", 0, (events) => batches.push(describeEvents(events)));

  const writes = [
    cache.write({ key: WEB, expect: "absent", value: bytes("1") }),
    cache.write({ key: API, expect: "absent", value: bytes("2") }),
  ];
  const sentEarly = batches.length;
  await Promise.all(writes);
  await cache.write({ key: WEB, expect: "any", value: null });
  await untilQuiet(cache);

  expect(sentEarly).toBe(0);
  expect(batches.flat()).toEqual(["+web@1", "+api@2", "-web@3"]);
  expect(batches[0]).toEqual(["+web@1", "+api@2"]);
});

test("a watcher that starts in the past receives past and then new events, once each", async () => {
  const { cache } = await open();
  await cache.write({ key: WEB, expect: "absent", value: bytes("1") });
  await cache.write({ key: API, expect: "absent", value: bytes("2") });
  await cache.write({ key: WEB, expect: 1, value: bytes("3") });
  const seen: string[] = [];

  cache.watch("/apps/deployments/", 1, (events) => seen.push(...describeEvents(events)));
  const beforeTick = [...seen];
  await cache.write({ key: API, expect: 2, value: bytes("4") });
  await untilQuiet(cache);

  expect(beforeTick).toEqual([]);
  expect(seen).toEqual(["+api@2", "~web@3", "~api@4"]);
});

test("a watcher that joins while events are pending receives each once", async () => {
  const { cache, engine } = await open();
  const early: string[] = [];
  const late: string[] = [];
  cache.watch("/apps/", 0, (events) => early.push(...describeEvents(events)));

  await engine.commit({ key: WEB, expect: "absent", value: bytes("1") });
  await cache.whenAt(1, AbortSignal.timeout(5000));
  cache.watch("/apps/", 0, (events) => late.push(...describeEvents(events)));
  await untilQuiet(cache);

  expect(early).toEqual(["+web@1"]);
  expect(late).toEqual(["+web@1"]);
});

test("a watcher of a later revision does not receive earlier events", async () => {
  const { cache } = await open();
  const seen: string[] = [];
  cache.watch("/apps/", 1, (events) => seen.push(...describeEvents(events)));

  await cache.write({ key: WEB, expect: "absent", value: bytes("1") });
  await cache.write({ key: API, expect: "absent", value: bytes("2") });
  await untilQuiet(cache);

  expect(seen).toEqual(["+api@2"]);
});

const prefixes: Record<string, { prefix: string; want: string[] }> = {
  "a watch on a kind covers all clusters": { prefix: "/apps/deployments/", want: ["+web@1", "+far@2", "+other@3"] },
  "a watch on a cluster covers its namespaces": { prefix: "/apps/deployments/hub/", want: ["+web@1", "+other@3"] },
  "a watch on a namespace covers only that namespace": { prefix: "/apps/deployments/hub/default/", want: ["+web@1"] },
  "a watch on everything covers everything": { prefix: "/", want: ["+web@1", "+far@2", "+other@3", "+node@4"] },
};
test.each(Object.entries(prefixes))("%s", async (_behaviour, { prefix, want }) => {
  const { cache } = await open();
  const seen: string[] = [];
  cache.watch(prefix, 0, (events) => seen.push(...describeEvents(events)));

  const keys = [
    WEB,
    "/apps/deployments/member1/default/far",
    "/apps/deployments/hub/defaults/other",
    "/core/nodes/hub/node",
  ];
  for (const key of keys) await cache.write({ key, expect: "absent", value: bytes("1") });
  await untilQuiet(cache);
  const replayed: string[] = [];
  cache.watch(prefix, 0, (events) => replayed.push(...describeEvents(events)));
  await untilQuiet(cache);

  expect(seen).toEqual(want);
  expect(replayed).toEqual(want);
});

test("watchers of one prefix share one event object", async () => {
  const { cache } = await open();
  const seen: CacheEvent[] = [];
  for (let i = 0; i < 2; i++) cache.watch("/apps/", 0, (events) => seen.push(...events));

  await cache.write({ key: WEB, expect: "absent", value: bytes("1") });
  await untilQuiet(cache);

  expect(seen).toHaveLength(2);
  expect(seen[0]).toBe(seen[1]);
});

test("a watcher that throws is reported and does not block the others", async () => {
  const onError = vi.fn<(error: unknown) => void>();
  const { cache } = await open({ onError });
  const seen: string[] = [];
  cache.watch("/apps/", 0, () => {
    throw new Error("broken watcher");
  });
  cache.watch("/apps/", 0, (events) => seen.push(...describeEvents(events)));

  await cache.write({ key: WEB, expect: "absent", value: bytes("1") });
  await untilQuiet(cache);

  expect(seen).toEqual(["+web@1"]);
  expect(onError).toHaveBeenCalledExactlyOnceWith(new Error("broken watcher"));
});

test("a watcher that ended receives no more events, including pending ones", async () => {
  const { cache } = await open();
  const second = vi.fn<(events: readonly CacheEvent[]) => void>();
  let endSecond = (): void => {};
  cache.watch("/apps/", 0, () => endSecond());
  endSecond = cache.watch("/apps/", 0, second);

  await cache.write({ key: WEB, expect: "absent", value: bytes("1") });

  expect(second).not.toHaveBeenCalled();
});

test("watchers receive a write before its writer gets the response", async () => {
  const { cache } = await open();
  const listener = vi.fn<(events: readonly CacheEvent[]) => void>();
  cache.watch("/apps/", 0, listener);

  await cache.write({ key: WEB, expect: "absent", value: bytes("1") });

  expect(listener).toHaveBeenCalledOnce();
});

test("a watch from before the history throws CompactedError", async () => {
  const { cache } = await open({ historyLimit: 2 });

  for (let i = 0; i < 5; i++) await cache.write({ key: WEB, expect: "any", value: bytes(String(i)) });

  expect(cache.compacted).toBe(3);
  expect(() => cache.watch("/apps/", 2, () => {})).toThrow(CompactedError);
  expect(() => cache.watch("/apps/", 3, () => {})).not.toThrow();
});

test("the history is limited by the bytes it retains", async () => {
  const { cache } = await open({ historyBytes: 10_000 });

  for (let i = 0; i < 20; i++) await cache.write({ key: WEB, expect: "any", value: new Uint8Array(2000) });

  expect(cache.compacted).toBe(16);
});

test("waiting for a revision ends with the signal", async () => {
  const { cache } = await open();
  const stop = new AbortController();

  const waiting = cache.whenAt(1, stop.signal);
  stop.abort(new Error("gave up"));

  await expect(waiting).rejects.toThrow("gave up");
});

test("a closed cache rejects pending waits", async () => {
  const { cache } = await open();

  const [waiting] = await Promise.allSettled([cache.whenAt(1, AbortSignal.timeout(5000)), cache.close()]);

  expect(waiting).toEqual({ status: "rejected", reason: new StoreError("the store cache is closed") });
});

test("a cache whose engine fails reports it and rejects pending waits", async () => {
  const onError = vi.fn<(error: unknown) => void>();
  const { cache, engine } = await open({ onError });

  const [waiting] = await Promise.allSettled([cache.whenAt(1, AbortSignal.timeout(5000)), engine.close()]);

  expect(waiting.status).toBe("rejected");
  expect(onError).toHaveBeenCalledExactlyOnceWith(
    new StoreError("the cache can no longer follow the store; restart to load it again"),
  );
  await expect(cache.write({ key: WEB, expect: "any", value: bytes("1") })).rejects.toThrow(StoreError);
});

test("a cache that loads during writes misses nothing and repeats nothing", async () => {
  const engine = createMemoryEngine();
  for (let i = 0; i < 50; i++)
    await engine.commit({ key: `/core/pods/hub/default/p${i}`, expect: "any", value: bytes("old") });

  const writes = Array.from({ length: 200 }, async (_, i) => {
    for (let tick = 0; tick < i % 7; tick++) await nextTick();
    return engine.commit({
      key: `/core/pods/hub/default/p${i % 60}`,
      expect: "any",
      value: i % 3 === 0 ? null : bytes(`${i}`),
    });
  });
  const { cache } = await open({}, engine);
  await Promise.all(writes);
  await cache.whenAt(await engine.revision(), AbortSignal.timeout(5000));

  const want: [string, number][] = [];
  for await (const batch of engine.scan("/")) for (const { key, revision } of batch) want.push([key, revision]);
  expect(cache.list("/").map(({ key, revision }) => [key, revision])).toEqual(want);
});

test("a list and the watch that follows it always add up to the current state", async () => {
  const write = fc.record({
    key: fc.constantFrom("/a/b/x/1", "/a/b/x/2", "/a/b/y/1", "/a/c/x/1"),
    remove: fc.boolean(),
    joins: fc.boolean(),
    waits: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(write, { maxLength: 60 }), async (writes) => {
      const { cache } = await open();
      const views: { prefix: string; seen: Map<string, number>; last: number }[] = [];
      const join = (prefix: string): void => {
        const view = {
          prefix,
          seen: new Map(cache.list(prefix).map(({ key, revision }) => [key, revision])),
          last: cache.revision,
        };
        views.push(view);
        cache.watch(prefix, cache.revision, (events) => {
          for (const { revision, entry, previous } of events) {
            expect(revision).toBeGreaterThan(view.last);
            view.last = revision;
            if (entry) view.seen.set(entry.key, revision);
            else view.seen.delete(previous?.key ?? "");
          }
        });
      };

      for (const { key, remove, joins, waits } of writes) {
        const written = cache.write({ key, expect: "any", value: remove ? null : bytes("x") });
        if (joins) join(key.slice(0, key.length - 1));
        if (joins) join("/a/b/");
        if (waits) await written;
      }
      await untilQuiet(cache);

      for (const { prefix, seen } of views)
        expect(seen).toEqual(new Map(cache.list(prefix).map(({ key, revision }) => [key, revision])));
    }),
    { numRuns: 50 },
  );
});
