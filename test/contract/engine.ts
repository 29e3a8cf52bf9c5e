/**
 * The contract of every storage engine, as tests. An engine is correct if this suite passes; `engine.test.ts` runs it
 * for each.
 *
 * Features that an engine does not have (reopening, snapshots) are omitted from the result of `open`, and their tests
 * are skipped with that reason.
 */
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import {
  CompactedError,
  StoreError,
  type Change,
  type Engine,
  type Entry,
  type Guard,
  type Outcome,
  type PastChange,
  type Write,
} from "@flotilla/apiserver";

export interface OpenedEngine {
  engine: Engine;
  /** Opens the same data again, after `engine` was closed. */
  reopen?(): Promise<Engine>;
  /** Takes a snapshot of an engine and opens an engine on it. */
  openSnapshot?(engine: Engine): Promise<Engine>;
  /** Called after all engines are closed. */
  cleanup(): Promise<void>;
}

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
const text = (value: Uint8Array | null): string | null => (value ? Buffer.from(value).toString() : null);
const put = (key: string, value: string, expected: Write["expect"] = "any"): Write => ({
  key,
  expect: expected,
  value: bytes(value),
});
const remove = (key: string, expected: Write["expect"] = "any"): Write => ({ key, expect: expected, value: null });
const guarded = (write: Write, ...guards: [key: string, expect: Guard["expect"]][]): Write => ({
  ...write,
  guards: guards.map(([key, expected]) => ({ key, expect: expected })),
});

async function scanAll(engine: Engine, prefix = ""): Promise<[key: string, revision: number, value: string | null][]> {
  const found: Entry[] = [];
  for await (const batch of engine.scan(prefix)) found.push(...batch);
  return found.map(({ key, revision, value }) => [key, revision, text(value)]);
}

/** Changes after a revision, up to and including another. */
async function changesBetween(engine: Engine, after: number, upTo: number): Promise<Change[]> {
  const found: Change[] = [];
  if (upTo <= after) return found;
  const stop = new AbortController();
  for await (const { changes } of engine.changes(after, stop.signal)) {
    found.push(...changes);
    if ((found.at(-1)?.revision ?? 0) >= upTo) break;
  }
  return found;
}

/** Newest first: the value that each change replaced, or null if it created the key. */
async function pastUpTo(
  engine: Engine,
  upTo: number,
): Promise<[key: string, revision: number, replaced: [revision: number, value: string | null] | null][]> {
  const found: PastChange[] = [];
  for await (const batch of engine.past(upTo)) found.push(...batch);
  return found.map(({ key, revision, previous }) => [
    key,
    revision,
    previous ? [previous.revision, text(previous.value)] : null,
  ]);
}

const inShort = (changes: readonly Change[]): [key: string, revision: number, value: string | null][] =>
  changes.map(({ key, revision, value }) => [key, revision, text(value)]);

export interface EngineAbilities {
  reopens: boolean;
  snapshots: boolean;
  /** Whether writes that do not depend on each other are also decided in the order of the calls. */
  ordersAll: boolean;
}

export function describeEngine(name: string, abilities: EngineAbilities, open: () => Promise<OpenedEngine>): void {
  if (!abilities.reopens)
    process.stdout.write(`skipped for ${name}: what it keeps ends with the process, so it cannot be opened again\n`);
  if (!abilities.snapshots) process.stdout.write(`skipped for ${name}: it has no file to write a snapshot to\n`);
  describe(`the ${name} engine`, () => {
    const closing: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
    });
    async function start(): Promise<Required<OpenedEngine>> {
      const opened = await open();
      closing.push(() => opened.cleanup());
      const keep = (engine: Engine): Engine => {
        closing.push(() => engine.close());
        return engine;
      };
      const missing = (): Promise<Engine> => Promise.reject(new Error(`${name} cannot do this`));
      return {
        engine: keep(opened.engine),
        reopen: () => (opened.reopen ?? missing)().then(keep),
        openSnapshot: (engine) => (opened.openSnapshot ?? missing)(engine).then(keep),
        cleanup: opened.cleanup,
      };
    }

    /** Commits without waiting for earlier ones, where their order is then certain. */
    async function commitAll(engine: Engine, writes: readonly Write[]): Promise<Outcome[]> {
      if (abilities.ordersAll) return Promise.all(writes.map((write) => engine.commit(write)));
      const outcomes: Outcome[] = [];
      for (const write of writes) outcomes.push(await engine.commit(write));
      return outcomes;
    }

    const expectations: Record<string, { before: Write[]; write: Write; want: Outcome }> = {
      "creates a key that is expected to be absent": {
        before: [],
        write: put("/a", "1", "absent"),
        want: { ok: true, revision: 1 },
      },
      "rejects creating a key that exists, and returns it": {
        before: [put("/a", "1")],
        write: put("/a", "2", "absent"),
        want: { ok: false, current: { key: "/a", revision: 1, value: bytes("1") } },
      },
      "creates again after a deletion": {
        before: [put("/a", "1"), remove("/a")],
        write: put("/a", "2", "absent"),
        want: { ok: true, revision: 3 },
      },
      "replaces the expected revision": {
        before: [put("/a", "1")],
        write: put("/a", "2", 1),
        want: { ok: true, revision: 2 },
      },
      "rejects a stale revision, and returns the current entry": {
        before: [put("/a", "1"), put("/a", "2")],
        write: put("/a", "3", 1),
        want: { ok: false, current: { key: "/a", revision: 2, value: bytes("2") } },
      },
      "rejects a revision of an absent key": {
        before: [put("/b", "1")],
        write: put("/a", "1", 1),
        want: { ok: false },
      },
      "rejects the revision of another key": {
        before: [put("/a", "1"), put("/b", "2")],
        write: put("/a", "3", 2),
        want: { ok: false, current: { key: "/a", revision: 1, value: bytes("1") } },
      },
      "writes a new key without an expectation": {
        before: [],
        write: put("/a", "1", "any"),
        want: { ok: true, revision: 1 },
      },
      "overwrites without an expectation": {
        before: [put("/a", "1")],
        write: put("/a", "2", "any"),
        want: { ok: true, revision: 2 },
      },
      "deletes the expected revision": {
        before: [put("/a", "1")],
        write: remove("/a", 1),
        want: { ok: true, revision: 2 },
      },
      "rejects deleting a stale revision": {
        before: [put("/a", "1"), put("/a", "2")],
        write: remove("/a", 1),
        want: { ok: false, current: { key: "/a", revision: 2, value: bytes("2") } },
      },
      "uses no revision for deleting an absent key": {
        before: [put("/b", "1")],
        write: remove("/a"),
        want: { ok: true, revision: 1 },
      },
      "distinguishes an empty value from a deletion": {
        before: [put("/a", "")],
        write: put("/a", "1", "absent"),
        want: { ok: false, current: { key: "/a", revision: 1, value: bytes("") } },
      },
    };
    test.each(Object.entries(expectations))("%s", async (_behaviour, { before, write, want }) => {
      const { engine } = await start();
      for (const earlier of before) await engine.commit(earlier);

      const outcome = await engine.commit(write);

      expect(outcome).toEqual(want);
    });

    const guards: Record<string, { before: Write[]; write: Write; want: Outcome }> = {
      "writes when the guarded key has the expected revision": {
        before: [put("/ns", "1")],
        write: guarded(put("/a", "1", "absent"), ["/ns", 1]),
        want: { ok: true, revision: 2 },
      },
      "writes when the guarded key is absent as expected": {
        before: [],
        write: guarded(put("/a", "1"), ["/ns", "absent"]),
        want: { ok: true, revision: 1 },
      },
      "writes when all of several guards hold": {
        before: [put("/ns", "1"), put("/crd", "2")],
        write: guarded(put("/a", "1"), ["/ns", 1], ["/crd", 2], ["/quota", "absent"]),
        want: { ok: true, revision: 3 },
      },
      "rejects a write whose guarded key was changed": {
        before: [put("/ns", "1"), put("/ns", "2")],
        write: guarded(put("/a", "1", "absent"), ["/ns", 1]),
        want: { ok: false, failedGuard: "/ns", revision: 2 },
      },
      "rejects a write whose guarded key was deleted": {
        before: [put("/ns", "1"), remove("/ns")],
        write: guarded(put("/a", "1", "absent"), ["/ns", 1]),
        want: { ok: false, failedGuard: "/ns", revision: 2 },
      },
      "rejects a write whose guarded key was deleted and created again": {
        before: [put("/ns", "1"), remove("/ns"), put("/ns", "1")],
        write: guarded(put("/a", "1", "absent"), ["/ns", 1]),
        want: { ok: false, failedGuard: "/ns", revision: 3 },
      },
      "rejects a write whose guarded key was created": {
        before: [put("/ns", "1")],
        write: guarded(put("/a", "1", "absent"), ["/ns", "absent"]),
        want: { ok: false, failedGuard: "/ns", revision: 1 },
      },
      "names the first guard that failed": {
        before: [put("/ns", "1"), put("/crd", "2")],
        write: guarded(put("/a", "1"), ["/ns", 1], ["/crd", 1], ["/ns", "absent"]),
        want: { ok: false, failedGuard: "/crd", revision: 2 },
      },
      "checks the guards of a write without an expectation": {
        before: [put("/a", "1"), put("/ns", "2")],
        write: guarded(put("/a", "3", "any"), ["/ns", "absent"]),
        want: { ok: false, failedGuard: "/ns", revision: 2 },
      },
      "checks the guards of a deletion": {
        before: [put("/a", "1"), put("/ns", "2")],
        write: guarded(remove("/a", 1), ["/ns", 1]),
        want: { ok: false, failedGuard: "/ns", revision: 2 },
      },
      "checks the guards of a deletion that changes nothing": {
        before: [put("/ns", "1")],
        write: guarded(remove("/a"), ["/ns", "absent"]),
        want: { ok: false, failedGuard: "/ns", revision: 1 },
      },
      "reports the failed expectation before a failed guard": {
        before: [put("/a", "1"), put("/ns", "2")],
        write: guarded(put("/a", "3", "absent"), ["/ns", "absent"]),
        want: { ok: false, current: { key: "/a", revision: 1, value: bytes("1") } },
      },
      "accepts a guard on the written key itself": {
        before: [put("/a", "1")],
        write: guarded(put("/a", "2", 1), ["/a", 1]),
        want: { ok: true, revision: 2 },
      },
    };
    test.each(Object.entries(guards))("%s", async (_behaviour, { before, write, want }) => {
      const { engine } = await start();
      for (const earlier of before) await engine.commit(earlier);

      const outcome = await engine.commit(write);

      expect(outcome).toEqual(want);
      // A failed write takes no revision, so nothing was written.
      expect(await engine.revision()).toBe(want.ok ? want.revision : before.length);
      expect(await changesBetween(engine, before.length, want.ok ? want.revision : before.length)).toHaveLength(
        want.ok ? 1 : 0,
      );
    });

    test("counts earlier writes of the same batch for guards", async () => {
      const { engine } = await start();
      await engine.commit(put("/ns", "1"));

      const outcomes = await commitAll(engine, [
        guarded(put("/a", "1", "absent"), ["/ns", 1]),
        put("/ns", "terminating", 1),
        guarded(put("/b", "1", "absent"), ["/ns", 1]),
        guarded(put("/c", "1", "absent"), ["/ns", 3]),
        remove("/ns", 3),
        guarded(put("/d", "1", "absent"), ["/ns", 3]),
        guarded(put("/e", "1", "absent"), ["/ns", "absent"]),
      ]);

      expect(outcomes).toEqual([
        { ok: true, revision: 2 },
        { ok: true, revision: 3 },
        { ok: false, failedGuard: "/ns", revision: 3 },
        { ok: true, revision: 4 },
        { ok: true, revision: 5 },
        { ok: false, failedGuard: "/ns", revision: 5 },
        { ok: true, revision: 6 },
      ]);
      expect(inShort(await changesBetween(engine, 1, 6))).toEqual([
        ["/a", 2, "1"],
        ["/ns", 3, "terminating"],
        ["/c", 4, "1"],
        ["/ns", 5, null],
        ["/e", 6, "1"],
      ]);
    });

    test("rejects a guard that is not well-formed", async () => {
      const { engine } = await start();

      await expect(engine.commit(guarded(put("/a", "1"), ["/a\ud800", "absent"]))).rejects.toThrow(StoreError);
      await expect(engine.commit(guarded(put("/a", "1"), ["/b", 0]))).rejects.toThrow(StoreError);
      await expect(
        engine.commit(
          guarded(put("/a", "1"), ...Array.from({ length: 34 }, (_, n): [string, "absent"] => [`/${n}`, "absent"])),
        ),
      ).rejects.toThrow("at most 33");
      expect(await scanAll(engine)).toEqual([]);
    });

    test("decides writes to one key in the order of the calls", async () => {
      const { engine } = await start();

      const outcomes = await Promise.all(
        [
          put("/a", "1", "absent"),
          put("/a", "2", "absent"),
          put("/a", "3", 1),
          remove("/a", 2),
          put("/a", "4", "absent"),
        ].map((write) => engine.commit(write)),
      );

      expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true, true, true]);
      expect(await scanAll(engine)).toEqual([["/a", 4, "4"]]);
    });

    test("lets exactly one of many writers with the same expectation win", async () => {
      const { engine } = await start();
      await engine.commit(put("/a", "0"));

      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => engine.commit(put("/a", `${n}`, 1))));

      expect(outcomes.filter(({ ok }) => ok)).toEqual([{ ok: true, revision: 2 }]);
    });

    test("gives every write its own revision, and emits changes in that order", async () => {
      const { engine } = await start();

      const outcomes = await Promise.all(
        Array.from({ length: 300 }, (_, n) => engine.commit(put(`/k${n % 40}`, `${n}`))),
      );
      const changes = await changesBetween(engine, 0, 300);

      expect(outcomes.map((outcome) => outcome.ok && outcome.revision).sort((a, b) => Number(a) - Number(b))).toEqual(
        Array.from({ length: 300 }, (_, n) => n + 1),
      );
      expect(changes.map(({ revision }) => revision)).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
    });

    test("returns changes without gaps from any revision", async () => {
      const { engine } = await start();
      const writes = [put("/a", "1"), put("/b", "2"), remove("/a"), put("/a", "4"), put("/b", "5")];
      for (const write of writes) await engine.commit(write);
      const all: [string, number, string | null][] = [
        ["/a", 1, "1"],
        ["/b", 2, "2"],
        ["/a", 3, null],
        ["/a", 4, "4"],
        ["/b", 5, "5"],
      ];

      for (let after = 0; after < 5; after++) {
        const changes = await changesBetween(engine, after, 5);

        expect(inShort(changes)).toEqual(all.slice(after));
      }
    });

    test("emits changes to a waiting follower", async () => {
      const { engine } = await start();
      await engine.commit(put("/a", "1"));

      const following = changesBetween(engine, 1, 3);
      await engine.commit(put("/b", "2"));
      await engine.commit(remove("/a"));

      expect(inShort(await following)).toEqual([
        ["/b", 2, "2"],
        ["/a", 3, null],
      ]);
    });

    test("ends a follower when its signal is aborted", async () => {
      const { engine } = await start();
      const stop = new AbortController();
      const seen: Change[] = [];

      const following = (async () => {
        for await (const { changes } of engine.changes(0, stop.signal)) seen.push(...changes);
      })();
      await engine.commit(put("/a", "1"));
      stop.abort();
      await following;

      expect(seen.length).toBeLessThanOrEqual(1);
    });

    test("scans a prefix in key order", async () => {
      const { engine } = await start();
      for (const key of [
        "/core/pods/hub/b",
        "/core/pods/hub/a",
        "/core/pods2/hub/a",
        "/core/nodes/hub/a",
        "/core/pods/hub-2/a",
      ])
        await engine.commit(put(key, "x"));

      const found = await scanAll(engine, "/core/pods/");

      expect(found.map(([key]) => key)).toEqual(["/core/pods/hub-2/a", "/core/pods/hub/a", "/core/pods/hub/b"]);
    });

    test("scans a consistent snapshot from the moment of the call", async () => {
      const { engine } = await start();
      const keys = Array.from({ length: 1500 }, (_, n) => `/k/${String(n).padStart(5, "0")}`);
      await Promise.all(keys.map((key) => engine.commit(put(key, "old"))));

      const scan = engine.scan("/k/");
      const found: Entry[] = [];
      let batches = 0;
      for await (const batch of scan) {
        // Changes everything still to come in the middle of the scan.
        if (batches++ === 0)
          await Promise.all([
            ...keys.slice(700).map((key) => engine.commit(put(key, "new"))),
            engine.commit(put("/k/99999", "new")),
          ]);
        found.push(...batch);
      }

      expect(found.map(({ key }) => key)).toEqual(keys);
      expect(new Set(found.map(({ value }) => text(value)))).toEqual(new Set(["old"]));
      expect(batches).toBeGreaterThan(1);
    });

    test("works after a scan that ended early", async () => {
      const { engine } = await start();
      await Promise.all(Array.from({ length: 1500 }, (_, n) => engine.commit(put(`/k/${n}`, "x"))));

      for await (const batch of engine.scan("/k/")) if (batch.length > 0) break;

      expect(await engine.commit(put("/a", "1"))).toEqual({ ok: true, revision: 1501 });
    });

    test("returns its latest revision", async () => {
      const { engine } = await start();

      const before = await engine.revision();
      await engine.commit(put("/a", "1"));
      await engine.commit(remove("/a"));

      expect([before, await engine.revision()]).toEqual([0, 2]);
    });

    test("drops compacted changes and keeps current values", async () => {
      const { engine } = await start();
      for (const write of [put("/a", "1"), put("/b", "2"), put("/a", "3"), remove("/b"), put("/c", "5")])
        await engine.commit(write);

      await engine.compact(4);

      await expect(changesBetween(engine, 3, 5)).rejects.toThrow(CompactedError);
      expect(inShort(await changesBetween(engine, 4, 5))).toEqual([["/c", 5, "5"]]);
      expect(await scanAll(engine)).toEqual([
        ["/a", 3, "3"],
        ["/c", 5, "5"],
      ]);
    });

    test("returns history backwards, each change with the value it replaced", async () => {
      const { engine } = await start();
      for (const write of [put("/a", "1"), put("/b", ""), put("/a", "3"), remove("/b"), put("/b", "5")])
        await engine.commit(write);

      const all = await pastUpTo(engine, 5);
      const early = await pastUpTo(engine, 3);

      expect(all).toEqual([
        ["/b", 5, null],
        ["/b", 4, [2, ""]],
        ["/a", 3, [1, "1"]],
        ["/b", 2, null],
        ["/a", 1, null],
      ]);
      expect(early).toEqual(all.slice(2));
    });

    test("returns uncompacted history, with the value that its oldest change replaced", async () => {
      const { engine } = await start();
      for (const write of [put("/a", "1"), put("/b", "2"), put("/a", "3"), put("/a", "4")]) await engine.commit(write);

      await engine.compact(2);

      expect(await pastUpTo(engine, 4)).toEqual([
        ["/a", 4, [3, "3"]],
        ["/a", 3, [1, "1"]],
      ]);
      expect(await pastUpTo(engine, 2)).toEqual([]);
    });

    test("returns a long history in batches without gaps during writes", async () => {
      const { engine } = await start();
      await Promise.all(Array.from({ length: 1500 }, (_, n) => engine.commit(put(`/k${n % 7}`, "x".repeat(500)))));

      const seen: number[] = [];
      let batches = 0;
      for await (const batch of engine.past(1500)) {
        if (batches++ === 0)
          await Promise.all(Array.from({ length: 20 }, (_, n) => engine.commit(put(`/k${n % 7}`, "new"))));
        seen.push(...batch.map(({ revision }) => revision));
      }

      expect(seen).toEqual(Array.from({ length: 1500 }, (_, n) => 1500 - n));
      expect(batches).toBeGreaterThan(1);
    });

    test.skipIf(!abilities.reopens)("keeps history when it is reopened", async () => {
      const { engine, reopen } = await start();
      for (const write of [put("/a", "1"), put("/a", "2"), remove("/a")]) await engine.commit(write);
      await engine.close();

      const again = await reopen();

      expect(await pastUpTo(again, await again.revision())).toEqual([
        ["/a", 3, [2, "2"]],
        ["/a", 2, [1, "1"]],
        ["/a", 1, null],
      ]);
    });

    test("keeps values that were current when the log before them was compacted, until they are replaced", async () => {
      const { engine } = await start();
      await engine.commit(put("/a", "1"));
      await engine.compact(1);

      const outcome = await engine.commit(put("/a", "2", 1));
      await engine.compact(2);

      expect(outcome).toEqual({ ok: true, revision: 2 });
      expect(await scanAll(engine)).toEqual([["/a", 2, "2"]]);
    });

    test("compacting beyond the latest revision compacts everything", async () => {
      const { engine } = await start();
      await engine.commit(put("/a", "1"));

      await engine.compact(1000);
      await engine.commit(put("/a", "2"));

      expect(inShort(await changesBetween(engine, 1, 2))).toEqual([["/a", 2, "2"]]);
    });

    const badKeys: Record<string, string> = {
      "an empty key": "",
      "a key with NUL": "/a\0b",
      "a key that is not valid Unicode": "/a\ud800",
      "an overlong key": `/${"a".repeat(5000)}`,
    };
    for (const [what, key] of Object.entries(badKeys)) {
      test(`rejects ${what}`, async () => {
        const { engine } = await start();

        await expect(engine.commit(put(key, "1"))).rejects.toThrow(StoreError);
        expect(await scanAll(engine)).toEqual([]);
      });
    }

    test("stores arbitrary keys and values unchanged", async () => {
      const { engine } = await start();
      const value = Uint8Array.from({ length: 70_000 }, (_, n) => n % 251);

      await engine.commit({ key: "/rbac/__proto__/größe %'\"\n", expect: "absent", value });

      const found: Entry[] = [];
      for await (const batch of engine.scan("/rbac/__proto__/")) found.push(...batch);
      expect(found.map(({ key }) => key)).toEqual(["/rbac/__proto__/größe %'\"\n"]);
      expect(Buffer.compare(found[0]?.value ?? new Uint8Array(), value)).toBe(0);
    });

    test("waits for accepted writes on close, and rejects later ones", async () => {
      const { engine } = await start();
      const accepted = Array.from({ length: 50 }, (_, n) => engine.commit(put(`/k${n}`, "x")));

      await engine.close();

      expect((await Promise.all(accepted)).every(({ ok }) => ok)).toBe(true);
      await expect(engine.commit(put("/late", "x"))).rejects.toThrow(StoreError);
      await expect(changesBetween(engine, 50, 51)).rejects.toThrow(StoreError);
    });

    test("can be closed twice", async () => {
      const { engine } = await start();

      await Promise.all([engine.close(), engine.close()]);

      await expect(engine.revision()).rejects.toThrow(StoreError);
    });

    test.skipIf(!abilities.reopens)("keeps values, revisions and changes when it is reopened", async () => {
      const { engine, reopen } = await start();
      for (const write of [put("/a", "1"), put("/b", "2"), remove("/b")]) await engine.commit(write);
      await engine.close();

      const again = await reopen();

      expect(await again.revision()).toBe(3);
      expect(await scanAll(again)).toEqual([["/a", 1, "1"]]);
      expect(inShort(await changesBetween(again, 1, 3))).toEqual([
        ["/b", 2, "2"],
        ["/b", 3, null],
      ]);
      expect(await again.commit(put("/b", "4", "absent"))).toEqual({ ok: true, revision: 4 });
      expect(inShort(await changesBetween(again, 2, 4))).toEqual([
        ["/b", 3, null],
        ["/b", 4, "4"],
      ]);
    });

    test.skipIf(!abilities.reopens)("does not reuse a revision whose change was compacted", async () => {
      const { engine, reopen } = await start();
      await engine.commit(put("/a", "1"));
      await engine.commit(remove("/a"));
      await engine.compact(2);
      await engine.close();

      const again = await reopen();

      expect(await again.commit(put("/a", "1"))).toEqual({ ok: true, revision: 3 });
      await expect(changesBetween(again, 1, 3)).rejects.toThrow(CompactedError);
    });

    test.skipIf(!abilities.snapshots)("writes a snapshot that opens as an equal store", async () => {
      const { engine, openSnapshot } = await start();
      for (let n = 0; n < 100; n++) await engine.commit(n % 10 === 9 ? remove(`/k${n - 1}`) : put(`/k${n}`, `${n}`));

      const copy = await openSnapshot(engine);

      expect(await scanAll(copy)).toEqual(await scanAll(engine));
      expect(await copy.revision()).toBe(await engine.revision());
      expect(await copy.commit(put("/new", "x"))).toEqual({ ok: true, revision: 101 });
      expect(await engine.commit(put("/new", "y"))).toEqual({ ok: true, revision: 101 });
    });

    test("agrees with a plain model under any interleaving of commits", async () => {
      const step = fc.record({
        key: fc.constantFrom("/a", "/b", "/c/d", "/c/e"),
        // Index into the revisions seen so far, so that some expectations match and some do not.
        expect: fc.oneof(fc.constant("any" as const), fc.constant("absent" as const), fc.nat(6)),
        value: fc.option(fc.string({ maxLength: 5 }), { freq: 3 }),
        guards: fc.array(
          fc.record({
            key: fc.constantFrom("/a", "/b", "/c/d", "/c/e"),
            expect: fc.oneof(fc.constant("absent" as const), fc.nat(6)),
          }),
          { maxLength: 2 },
        ),
        /** Whether to wait for the outcomes so far before continuing. */
        pause: fc.boolean(),
      });

      // One engine serves all runs, each with its own prefix and base revision: opening an engine is the slow part.
      const { engine } = await start();
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const prefix = `/run${run++}`;
          const base = await engine.revision();
          const model = createModel(base);
          const pending: Promise<Outcome>[] = [];
          const wanted: Outcome[] = [];
          for (const { key, expect: wish, value, guards: wishes, pause } of steps) {
            const revisionFor = (wanting: number): number => Math.max(1, model.revision() - wanting);
            const write: Write = {
              key: prefix + key,
              expect: typeof wish === "number" ? revisionFor(wish) : wish,
              value: value === null ? null : bytes(value),
              guards: wishes.map((guard) => ({
                key: prefix + guard.key,
                expect: guard.expect === "absent" ? "absent" : revisionFor(guard.expect),
              })),
            };
            pending.push(engine.commit(write));
            wanted.push(model.commit(write));
            if (pause || !abilities.ordersAll) await Promise.all(pending);
          }

          const outcomes = await Promise.all(pending);

          expect(outcomes).toEqual(wanted);
          expect(await scanAll(engine, `${prefix}/`)).toEqual(model.entries());
          expect(inShort(await changesBetween(engine, base, model.revision()))).toEqual(inShort(model.changes));
        }),
        { numRuns: 100 },
      );
    });
  });
}

/** The contract in its shortest form: one Map and one list. */
function createModel(base: number) {
  const current = new Map<string, Entry>();
  const changes: Change[] = [];
  const newest = (): number => base + changes.length;
  return {
    changes,
    revision: newest,
    entries: () =>
      [...current.values()]
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ key, revision, value }) => [key, revision, text(value)]),
    commit({ key, expect: expected, value, guards = [] }: Write): Outcome {
      const entry = current.get(key);
      const isAt = (found: Entry | undefined, revision: number | "absent"): boolean =>
        revision === "absent" ? !found : found?.revision === revision;
      if (expected !== "any" && !isAt(entry, expected)) return entry ? { ok: false, current: entry } : { ok: false };
      const failed = guards.find((guard) => !isAt(current.get(guard.key), guard.expect));
      if (failed) return { ok: false, failedGuard: failed.key, revision: newest() };
      if (!value && !entry) return { ok: true, revision: newest() };
      const revision = newest() + 1;
      changes.push({ key, revision, value });
      if (value) current.set(key, { key, revision, value });
      else current.delete(key);
      return { ok: true, revision };
    },
  };
}
