import { describe, expect, onTestFinished, test } from "vitest";
import { ApiError, conflict, CONFLICT_MESSAGE, dynamicKind, forbidden } from "@flotilla/apimachinery";
import { createFakeClock, FlotillaError, silentLog, type Log, type LogFields } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { done, type Result } from "./runtime-controller.ts";
import { defineController, defineKeyedController, idOfKey, keyOf, watch } from "./define-controller.ts";
import { createInformers } from "./informers.ts";
import { createManager } from "./manager.ts";
import { createDynamicSource, informerSource } from "./sources.ts";

const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});
const Gadget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Gadget",
  plural: "gadgets",
  scope: "Namespaced",
});

function make(kind: typeof Widget, name: string) {
  return { apiVersion: "example.dev/v1", kind: kind.kind, metadata: { name, namespace: "shop" } };
}

function setUp({ log = silentLog }: { log?: Log } = {}) {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const informers = createInformers({ client, clock, log: silentLog, scope: { cluster: "hub" } });
  const members = createInformers({
    client,
    clock,
    log: silentLog,
    scope: { cluster: "*", where: (cluster) => cluster !== "hub" },
  });
  const manager = createManager({ client, informers, clock, log });
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort();
    await manager.stop();
    informers.close();
    members.close();
  });
  return {
    clock,
    client,
    informers,
    members,
    manager,
    signal: ending.signal,
    settle: () => reconcileUntilQuiet({ managers: [manager], server: client, others: [members] }),
  };
}
/** Lets queued callbacks run while an operation is deliberately blocked. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve));
}
/** A controller of Widgets that records the names it is called with. */
function noting(name: string, seen: string[], act: (key: ObjectKey) => Result = () => done) {
  return defineController({
    name,
    for: Widget,
    writes: [],
    reconcile: async (_object, { key }) => (seen.push(key.name), act(key)),
  });
}

describe("starting", () => {
  test("no key is reconciled before everything that the controller may read is listed", async () => {
    const { clock, client, informers, manager, signal, settle } = setUp();
    await client.create(Widget, "hub", make(Widget, "a"));
    await client.create(Gadget, "hub", make(Gadget, "g"));
    const gadgets = informers.of(Gadget);
    client.failNext("watch", new Error("not reachable"));
    const seen: number[] = [];
    manager.add(
      defineController({
        name: "counting",
        for: Widget,
        writes: [],
        reconcile: async () => (seen.push(gadgets.list().length), done),
      }),
    );

    manager.start(signal);
    await settle();
    expect(seen).toEqual([]);
    clock.advance(1000);
    await settle();

    expect(seen).toEqual([1]);
    await manager.whenSynced(signal);
  });

  test("a controller that declares its reads waits for those, and for no other open kind", async () => {
    const { clock, client, informers, manager, signal, settle } = setUp();
    await client.create(Widget, "hub", make(Widget, "a"));
    informers.of(Gadget);
    client.failNext("watch", new Error("not reachable"));
    const seen: string[] = [];
    const reconcile = (name: string) => async (): Promise<Result> => (seen.push(name), done);
    manager.add(defineController({ name: "early", for: Widget, reads: [], writes: [], reconcile: reconcile("early") }));
    manager.add(
      defineController({ name: "late", for: Widget, reads: [Gadget], writes: [], reconcile: reconcile("late") }),
    );

    manager.start(signal);
    await settle();
    expect(seen).toEqual(["early"]);
    clock.advance(1000);
    await settle();

    expect(seen).toEqual(["early", "late"]);
  });

  test("a kind that is not served blocks only the controllers that watch it", async () => {
    const { clock, client, manager, signal, settle } = setUp();
    client.setServed(Gadget, false);
    await client.create(Widget, "hub", make(Widget, "a"));
    const plain: string[] = [];
    const watching: string[] = [];
    manager.add(noting("plain", plain));
    manager.add(
      defineController({
        name: "watching",
        for: Widget,
        watches: [watch(Gadget, () => [])],
        writes: [],
        reconcile: async ({ metadata }) => (watching.push(metadata.name), done),
      }),
    );

    manager.start(signal);
    await settle();
    expect(plain).toEqual(["a"]);
    expect(watching).toEqual([]);
    client.setServed(Gadget, true);
    clock.advance(5000);
    await settle();

    expect(watching).toEqual(["a"]);
  });

  test("a controller that is added later starts immediately", async () => {
    const { client, manager, signal, settle } = setUp();
    await client.create(Widget, "hub", make(Widget, "a"));
    const seen: string[] = [];
    manager.start(signal);

    manager.add(noting("late", seen));
    await settle();

    expect(seen).toEqual(["a"]);
  });

  test("two controllers with the same name are rejected", () => {
    const { manager } = setUp();

    expect(() => manager.add(noting("same", []), noting("same", []))).toThrow("two controllers are named same");
  });

  test("a finalizer without finalize is rejected", () => {
    expect(() =>
      defineController({
        name: "half",
        for: Widget,
        writes: [],
        finalizer: "example.dev/hold",
        reconcile: async () => done,
      }),
    ).toThrow("must define finalizer and finalize together");
  });
});

describe("keys of the initial list", () => {
  const names = Array.from({ length: 100 }, (_, index) => `old-${index}`);

  test("do not delay fresh changes, even when there are many", async () => {
    const { client, manager, signal, settle } = setUp();
    for (const name of names) await client.create(Widget, "hub", make(Widget, name));
    const seen: string[] = [];
    let created: Promise<unknown> | undefined;
    manager.add(noting("busy", seen, () => ((created ??= client.create(Widget, "hub", make(Widget, "new"))), done)));

    manager.start(signal);
    await settle();
    await created;

    expect(seen.length).toBe(names.length + 1);
    expect(seen.indexOf("new")).toBeLessThan(names.length / 2);
  });

  test("leave workers for fresh changes when all of them wait", async () => {
    const { client, manager, signal, settle } = setUp();
    for (const name of names) await client.create(Widget, "hub", make(Widget, name));
    const held = Promise.withResolvers<void>();
    const finished: string[] = [];
    manager.add(
      defineController({
        name: "waiting",
        for: Widget,
        writes: [],
        async reconcile(_object, { key }) {
          if (key.name !== "new") await held.promise;
          finished.push(key.name);
          return done;
        },
      }),
    );
    manager.start(signal);
    await turns();

    await client.create(Widget, "hub", make(Widget, "new"));
    await turns();

    expect(finished).toEqual(["new"]);
    held.resolve();
    await settle();
    expect(finished.length).toBe(names.length + 1);
  });
});

describe("being quiet", () => {
  test("ends with every new key, also with one that arrives right after a reconcile", async () => {
    const { manager, signal, settle } = setUp();
    let enqueue: (key: string) => void = () => {};
    manager.add(
      defineKeyedController<string>({
        name: "keys",
        sources: [{ source: { start: (add) => void (enqueue = add), isQuiet: () => true } }],
        writes: [],
        idOf: (key) => key,
        reconcile: async () => done,
      }),
    );
    manager.start(signal);
    await settle();

    const seen: boolean[] = [];
    for (const key of ["a", "b", "c"]) {
      enqueue(key);
      seen.push(manager.isQuiet());
      await new Promise((resolve) => void setImmediate(resolve));
      seen.push(manager.isQuiet());
    }

    expect(seen).toEqual([false, true, false, true, false, true]);
  });

  test("ends while a source that is not an informer of the manager has changes in flight", async () => {
    const { manager, signal, settle } = setUp();
    let isQuiet = true;
    manager.add(
      defineKeyedController<string>({
        name: "keys",
        sources: [{ source: { start: () => {}, isQuiet: () => isQuiet } }],
        writes: [],
        idOf: (key) => key,
        reconcile: async () => done,
      }),
    );
    manager.start(signal);
    await settle();

    isQuiet = false;

    expect(manager.isQuiet()).toBe(false);
    expect(manager.busy()).toEqual(["keys: 0 queued, 0 running, 0 reconciles, 0 failures so far"]);
  });
});

describe("sources", () => {
  test("a hub controller watches members through the members' informers", async () => {
    const { client, members, manager, signal, settle } = setUp();
    const seen: string[] = [];
    manager.add(
      defineKeyedController<ObjectKey>({
        name: "fleet",
        sources: [
          watch(Widget, ({ cluster, object }) => [keyOf(cluster, object)], { informers: members }),
          { source: informerSource(members.of(Gadget), ({ cluster, object }) => [keyOf(cluster, object)]) },
        ],
        writes: [],
        idOf: idOfKey,
        reconcile: async (key) => (seen.push(idOfKey(key)), done),
      }),
    );
    manager.start(signal);

    await client.create(Widget, "hub", make(Widget, "a"));
    await client.create(Widget, "paris", make(Widget, "b"));
    await client.create(Gadget, "oslo", make(Gadget, "c"));
    await settle();

    expect(seen.toSorted()).toEqual(["oslo/shop/c", "paris/shop/b"]);
  });

  test("a dynamic source follows added kinds, before and after the start", async () => {
    const { client, informers, manager, signal, settle } = setUp();
    const seen: string[] = [];
    const source = createDynamicSource<string>(informers, ({ object }) => [`${object.kind}/${object.metadata.name}`]);
    manager.add(
      defineKeyedController<string>({
        name: "match",
        sources: [{ source }],
        writes: [],
        idOf: (key) => key,
        reconcile: async (key) => (seen.push(key), done),
      }),
    );
    source.add(Widget);
    manager.start(signal);
    await client.create(Widget, "hub", make(Widget, "a"));
    await client.create(Gadget, "hub", make(Gadget, "b"));
    await settle();
    expect(seen).toEqual(["Widget/a"]);

    source.add(Gadget);
    source.add(Gadget);
    await settle();

    expect(seen).toEqual(["Widget/a", "Gadget/b"]);
  });

  test("a dynamic source reports the objects of a kind that is removed as deleted, and follows the kind no more", async () => {
    const { client, informers, manager, signal, settle } = setUp();
    const seen: string[] = [];
    const source = createDynamicSource<string>(informers, ({ object: { metadata }, deleted }) => [
      `${deleted ? "-" : "+"}${metadata.name}`,
    ]);
    manager.add(
      defineKeyedController<string>({
        name: "match",
        sources: [{ source }],
        writes: [],
        idOf: (key) => key,
        reconcile: async (key) => (seen.push(key), done),
      }),
    );
    source.add(Widget);
    manager.start(signal);
    await client.create(Widget, "hub", make(Widget, "a"));
    await settle();

    source.remove(Widget);
    await settle();
    await client.create(Widget, "hub", make(Widget, "b"));
    await settle();

    expect(seen).toEqual(["+a", "-a"]);
  });
});

describe("failures", () => {
  function createMemoryLog() {
    const lines: { level: string; message: string; fields: LogFields }[] = [];
    const log = (base: LogFields): Log => {
      const write = (level: string) => (message: string, fields?: LogFields) =>
        void lines.push({ level, message, fields: { ...base, ...fields } });
      return {
        debug() {},
        info: write("info"),
        warn: write("warn"),
        error: write("error"),
        with: (fields) => log({ ...base, ...fields }),
      };
    };
    return { log: log({}), lines };
  }

  test("a bug in a controller is logged once, with its stack, and does not stop other keys", async () => {
    const { log, lines } = createMemoryLog();
    const { clock, client, manager, signal, settle } = setUp({ log });
    const seen: string[] = [];
    manager.add(
      noting("broken", seen, ({ name }) => {
        if (name === "bad") throw new TypeError("cannot read properties of undefined");
        return done;
      }),
    );
    manager.start(signal);
    await client.create(Widget, "hub", make(Widget, "bad"));
    await client.create(Widget, "hub", make(Widget, "good"));
    await settle();

    clock.advance(5);
    await settle();

    expect(seen.toSorted()).toEqual(["bad", "bad", "good"]);
    expect(lines).toMatchObject([
      {
        level: "error",
        message: "reconcile failed unexpectedly, retrying",
        fields: { controller: "broken", key: "hub/shop/bad" },
      },
    ]);
    expect(String(lines[0]?.fields.stack)).toContain("manager.test.ts");
  });

  test("a terminating namespace is not logged as a failure, however long it takes", async () => {
    const { log, lines } = createMemoryLog();
    const { clock, client, manager, signal, settle } = setUp({ log });
    const { status } = forbidden({ group: "", resource: "pods" }, "p", "the namespace is being terminated");
    const refused = new ApiError({
      ...status,
      details: { ...status.details, causes: [{ reason: "NamespaceTerminating" }] },
    });
    let tries = 0;
    manager.add(
      noting("late", [], () => {
        tries++;
        throw new FlotillaError("WriteAll", "1 of 1 pod creations failed", { cause: refused });
      }),
    );
    manager.start(signal);
    await client.create(Widget, "hub", make(Widget, "a"));

    for (let try_ = 0; try_ < 15; try_++) {
      await settle();
      clock.advance(60_000);
    }

    expect(tries).toBe(15);
    expect(lines).toEqual([]);
    expect(manager.problems()).toEqual([]);
  });

  test("an occasional conflict is not logged", async () => {
    const { log, lines } = createMemoryLog();
    const { clock, client, manager, signal, settle } = setUp({ log });
    let tries = 0;
    manager.add(
      noting("racing", [], () => {
        if (++tries < 3) throw conflict({ group: "example.dev", resource: "widgets" }, "a", CONFLICT_MESSAGE);
        return done;
      }),
    );
    manager.start(signal);
    await client.create(Widget, "hub", make(Widget, "a"));
    await settle();

    for (const delayMs of [5, 10]) {
      clock.advance(delayMs);
      await settle();
    }

    expect(tries).toBe(3);
    expect(lines).toEqual([]);
  });
});

describe("stopping", () => {
  test("does not wait forever for a reconcile that ignores its signal", async () => {
    const { clock, client, manager, signal, settle } = setUp();
    const never = new Promise<Result>(() => {});
    let running = false;
    manager.add(
      defineController({ name: "stuck", for: Widget, writes: [], reconcile: () => ((running = true), never) }),
    );
    manager.start(signal);
    await client.create(Widget, "hub", make(Widget, "a"));
    await expect(settle()).rejects.toThrow("stuck: 0 queued, 1 running (hub/shop/a)");
    expect(running).toBe(true);

    const stopped = manager.stop();
    await turns();
    clock.advance(10_000);

    await stopped;
  });

  test("the signal passed to start stops it too, and leaves no timer behind", async () => {
    const { clock, client, informers, manager, settle } = setUp();
    const stop = new AbortController();
    const seen: string[] = [];
    manager.add(noting("delaying", seen, () => ({ requeueAfterMs: 1000 })));
    manager.start(stop.signal);
    await client.create(Widget, "hub", make(Widget, "a"));
    await settle();

    stop.abort();
    await manager.stop();
    clock.advance(1000);
    await turns();

    expect(seen).toEqual(["a"]);
    expect(clock.nextDue()).toBeUndefined();
    informers.close();
  });
});
