import { describe, expect, test } from "vitest";
import { dynamicKind, invalid } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom, silentLog, type Log } from "@flotilla/base";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import type { Informer, Lane } from "./runtime-controller.ts";
import type { Scope } from "./informer.ts";
import { createInformers } from "./informers.ts";

const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});

function makeWidget(name: string, spec: Record<string, string> = {}) {
  return { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name, namespace: "shop" }, spec };
}

function setUp({ scope = { cluster: "hub" }, log = silentLog }: { scope?: Scope; log?: Log } = {}) {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const informers = createInformers({ client, clock, log, scope, random: createSeededRandom(1) });
  const settle = () => reconcileUntilQuiet({ managers: [informers], server: client });
  return { clock, client, informers, settle };
}
/** `+name`, `~name`, `-name` for added, changed and deleted. */
function record(informer: Informer<KubernetesObject>): { events: string[]; lanes: Lane[]; stop: () => void } {
  const events: string[] = [];
  const lanes: Lane[] = [];
  const stop = informer.subscribe(({ object, old, deleted }, lane) => {
    events.push(`${deleted ? "-" : old ? "~" : "+"}${object.metadata.name}`);
    lanes.push(lane);
  });
  return { events, lanes, stop };
}
function createMemoryLog() {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { debug() {}, info: write("info"), warn: write("warn"), error: write("error"), with: () => log };
  return { log, lines };
}

describe("watching", () => {
  test("delivers present objects in the resync lane, then every change as fresh", async () => {
    const { client, informers, settle } = setUp();
    await client.create(Widget, "hub", makeWidget("a"));
    const informer = informers.of(Widget);
    const { events, lanes } = record(informer);
    expect(informer.synced).toBe(false);

    await settle();
    const b = await client.create(Widget, "hub", makeWidget("b"));
    await client.update(Widget, "hub", { ...b, spec: { color: "red" } });
    await client.delete(Widget, { cluster: "hub", namespace: "shop", name: "b" });
    await settle();

    expect(informer.synced).toBe(true);
    expect(events).toEqual(["+a", "+b", "~b", "-b"]);
    expect(lanes).toEqual(["resync", "fresh", "fresh", "fresh"]);
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(["a"]);
  });

  test("is empty while no object is cached", async () => {
    const { client, informers, settle } = setUp();
    const informer = informers.of(Widget);
    expect(informer.isEmpty).toBe(true);

    await client.create(Widget, "hub", makeWidget("a"));
    await settle();
    expect(informer.isEmpty).toBe(false);

    await client.delete(Widget, { cluster: "hub", namespace: "shop", name: "a" });
    await settle();
    expect(informer.isEmpty).toBe(true);
  });

  test("whenQuiet resolves when the list has ended, including when it failed", async () => {
    const { client, informers } = setUp();
    const never = new AbortController().signal;
    const Gadget = dynamicKind({
      group: "example.dev",
      version: "v1",
      kind: "Gadget",
      plural: "gadgets",
      scope: "Namespaced",
    });
    client.setServed(Gadget, false);
    const [served, unserved] = [informers.of(Widget), informers.of(Gadget)];

    await Promise.all([served.whenQuiet(never), unserved.whenQuiet(never)]);

    expect([served.synced, unserved.synced]).toEqual([true, false]);
    await expect(served.whenQuiet(never)).resolves.toBeUndefined();
  });

  test("delivers present objects to a late subscriber, and nothing after it has unsubscribed", async () => {
    const { client, informers, settle } = setUp();
    await client.create(Widget, "hub", makeWidget("a"));
    const informer = informers.of(Widget);
    await settle();

    const { events, stop } = record(informer);
    stop();
    await client.create(Widget, "hub", makeWidget("b"));
    await settle();

    expect(events).toEqual(["+a"]);
  });

  test("continues when a listener or an index throws, and logs it once", async () => {
    const { log, lines } = createMemoryLog();
    const { client, informers, settle } = setUp({ log });
    const informer = informers.of(Widget);
    informer.addIndex("broken", () => {
      throw new Error("unexpected shape");
    });
    informer.subscribe(() => {
      throw new Error("boom");
    });
    const { events } = record(informer);

    await client.create(Widget, "hub", makeWidget("a"));
    await client.create(Widget, "hub", makeWidget("b"));
    await settle();

    expect(events).toEqual(["+a", "+b"]);
    expect(lines.toSorted()).toEqual(["error index failed", "error listener failed"]);
  });

  test("covers every logical cluster except excluded ones", async () => {
    const { client, informers, settle } = setUp({ scope: { cluster: "*", where: (cluster) => cluster !== "hub" } });
    for (const cluster of ["hub", "paris", "oslo"]) await client.create(Widget, cluster, makeWidget(`in-${cluster}`));
    const informer = informers.of(Widget);
    await settle();

    await client.create(Widget, "hub", makeWidget("late"));
    await settle();

    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(["in-paris", "in-oslo"]);
    expect(informer.list({ cluster: "oslo" }).map(({ metadata }) => metadata.name)).toEqual(["in-oslo"]);
    expect(informer.get({ cluster: "paris", namespace: "shop", name: "in-oslo" })).toBeUndefined();
  });

  test("returns the client's object, not a copy", async () => {
    const { client, informers, settle } = setUp();
    const informer = informers.of(Widget);
    const created = await client.create(Widget, "hub", makeWidget("a"));
    await settle();

    const object = informer.get({ cluster: "hub", namespace: "shop", name: "a" });

    expect(object).toBe(created);
  });

  test("opens one watch per kind, regardless of the number of users", async () => {
    const { client, informers, settle } = setUp();

    const first = informers.of(Widget);
    const second = informers.of(Widget);
    await settle();

    expect(second).toBe(first);
    expect(client.count("watch")).toBe(1);
  });
});

describe("indexes", () => {
  test("contain present and new objects, and are updated on changes", async () => {
    const { client, informers, settle } = setUp();
    const informer = informers.of(Widget);
    const a = await client.create(Widget, "hub", makeWidget("a", { color: "red" }));
    await settle();
    informer.addIndex("color", (object) => [String((object.spec as { color?: string }).color)]);
    await client.create(Widget, "hub", makeWidget("b", { color: "red" }));
    await settle();
    const named = (color: string): string[] => informer.by("color", color).map(({ metadata }) => metadata.name);
    expect(named("red")).toEqual(["a", "b"]);

    await client.update(Widget, "hub", { ...a, spec: { color: "blue" } });
    await client.delete(Widget, { cluster: "hub", namespace: "shop", name: "b" });
    await settle();

    expect(named("red")).toEqual([]);
    expect(named("blue")).toEqual(["a"]);
  });

  test("return the newest object when a change does not affect the values", async () => {
    const { client, informers, settle } = setUp();
    const informer = informers.of(Widget);
    informer.addIndex("namespace", (object) => [object.metadata.namespace ?? ""]);
    const a = await client.create(Widget, "hub", makeWidget("a"));

    await client.update(Widget, "hub", { ...a, spec: { color: "blue" } });
    await settle();

    expect(informer.by("namespace", "shop").map(({ spec }) => spec)).toEqual([{ color: "blue" }]);
  });

  test("cannot be added twice, nor queried when they are missing", () => {
    const { informers } = setUp();
    const informer = informers.of(Widget);
    informer.addIndex("color", () => []);

    expect(() => informer.addIndex("color", () => [])).toThrow("added twice");
    expect(() => informer.by("size", "small")).toThrow("was not added");
    informers.close();
  });
});

describe("when the connection is lost", () => {
  test("resumes after the last seen version and misses nothing", async () => {
    const { clock, client, informers, settle } = setUp();
    const { events } = record(informers.of(Widget));
    await client.create(Widget, "hub", makeWidget("a"));
    await settle();

    client.disconnect({ down: true });
    await settle();
    client.up();
    await client.create(Widget, "hub", makeWidget("b"));
    clock.advance(60_000);
    await settle();

    expect(events).toEqual(["+a", "+b"]);
    expect(informers.of(Widget).synced).toBe(true);
  });

  test("increases its backoff after every attempt, logs the failure once, and logs its recovery", async () => {
    const { log, lines } = createMemoryLog();
    const { clock, client, informers, settle } = setUp({ log });
    informers.of(Widget);
    await settle();
    client.disconnect({ down: true });
    await settle();
    const delays: number[] = [];

    for (let tries = 0; tries < 10; tries++) {
      const delayMs = (clock.nextDue() ?? 0) - clock.now();
      delays.push(delayMs);
      clock.advance(delayMs);
      await settle();
    }
    client.up();
    clock.advance(30_000);
    await settle();
    await client.create(Widget, "hub", makeWidget("a"));
    await settle();

    expect(delays[0]).toBeLessThanOrEqual(200);
    expect(delays[9]).toBeGreaterThanOrEqual(15_000);
    expect(delays[9]).toBeLessThanOrEqual(30_000);
    expect(lines).toEqual(["warn watch failed, retrying", "info watching again"]);
  });

  test("waits only briefly when a working connection is lost", async () => {
    const { clock, client, informers, settle } = setUp();
    informers.of(Widget);
    client.failNext("watch", ...Array.from({ length: 8 }, () => new Error("refused")));
    for (let tries = 0; tries < 9; tries++) {
      await settle();
      clock.advance(30_000);
    }
    await settle();
    expect(clock.nextDue()).toBeUndefined();

    client.disconnect();
    await settle();

    expect((clock.nextDue() ?? 0) - clock.now()).toBeLessThanOrEqual(200);
  });

  test("lists again when the history is compacted, and delivers only real differences", async () => {
    const { clock, client, informers, settle } = setUp();
    const created = [];
    for (const name of ["same", "changed", "gone", "replaced"])
      created.push(await client.create(Widget, "hub", makeWidget(name)));
    const { events, lanes } = record(informers.of(Widget));
    await settle();
    events.length = 0;
    lanes.length = 0;

    client.disconnect({ down: true });
    await settle();
    client.up();
    const key = (name: string) => ({ cluster: "hub", namespace: "shop", name });
    await client.update(Widget, "hub", { ...makeWidget("changed"), spec: { color: "red" } });
    await client.delete(Widget, key("gone"));
    await client.delete(Widget, key("replaced"));
    await client.create(Widget, "hub", makeWidget("replaced"));
    await client.create(Widget, "hub", makeWidget("new"));
    client.compact();
    clock.advance(60_000);
    await settle();

    expect(events.toSorted()).toEqual(["+new", "+replaced", "-gone", "-replaced", "~changed"]);
    expect(events.indexOf("-replaced")).toBeLessThan(events.indexOf("+replaced"));
    expect(new Set(lanes)).toEqual(new Set(["fresh"]));
    expect(
      informers
        .of(Widget)
        .list()
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    ).toEqual(["changed", "new", "replaced", "same"]);
  });

  test("restarts its initial list when it is interrupted", async () => {
    const { clock, client, informers, settle } = setUp();
    await client.create(Widget, "hub", makeWidget("a"));
    client.failNext("watch", new Error("broken pipe"), new Error("broken pipe"));
    const informer = informers.of(Widget);
    await settle();
    expect(informer.synced).toBe(false);

    clock.advance(1000);
    await settle();
    clock.advance(1000);
    await settle();

    expect(informer.synced).toBe(true);
    expect(informer.list().length).toBe(1);
  });
});

describe("servers that lack a feature", () => {
  test("a kind that is not served is retried, and logged once", async () => {
    const { log, lines } = createMemoryLog();
    const { clock, client, informers, settle } = setUp({ log });
    client.setServed(Widget, false);
    const informer = informers.of(Widget);
    for (let tries = 0; tries < 20; tries++) {
      clock.advance(5000);
      await settle();
    }
    await informers.whenSynced(AbortSignal.timeout(1000));
    expect(informer.synced).toBe(false);
    expect(lines).toEqual(["info kind is not served yet, retrying until it is"]);

    client.setServed(Widget, true);
    clock.advance(5000);
    await settle();

    expect(informer.synced).toBe(true);
  });

  test("a server without streaming lists is listed in pages", async () => {
    const { client, informers, settle } = setUp();
    client.refuseStreamingLists(
      invalid("", "ListOptions", "", [
        { type: "Forbidden", field: "sendInitialEvents", message: "Forbidden: not enabled" },
      ]),
    );
    for (let index = 0; index < 501; index++) await client.create(Widget, "hub", makeWidget(`widget-${index}`));
    const informer = informers.of(Widget);
    await settle();

    await client.create(Widget, "hub", makeWidget("late"));
    await settle();

    expect(informer.list().length).toBe(502);
    expect(client.count("list")).toBe(2);
  });
});

describe("closing", () => {
  test("ends the watches and rejects pending waits for a list", async () => {
    const { client, informers, settle } = setUp();
    client.setServed(Widget, false);
    const informer = informers.of(Widget);
    await settle();
    const waiting = informer.whenSynced(new AbortController().signal);

    informers.close();

    await expect(waiting).rejects.toThrow("was closed before its initial list was complete");
    expect(() => informers.of(Widget)).toThrow("closed");
  });

  test("waiting for the initial list ends with its signal", async () => {
    const { client, informers } = setUp();
    client.setServed(Widget, false);
    const stop = new AbortController();
    const waiting = informers.of(Widget).whenSynced(stop.signal);

    stop.abort(new Error("enough"));

    await expect(waiting).rejects.toThrow("enough");
    informers.close();
  });
});

test("ten thousand objects with an index are listed with one index call per object", async () => {
  const { client, informers, settle } = setUp();
  await Promise.all(
    Array.from({ length: 10_000 }, (_, index) =>
      client.create(Widget, `member-${index % 100}`, makeWidget(`widget-${index}`)),
    ),
  );
  const members = createInformers({ client, clock: createFakeClock(), log: silentLog, scope: { cluster: "*" } });
  let calls = 0;

  const informer = members.of(Widget);
  informer.addIndex("cluster", (_object, cluster) => {
    calls++;
    return [cluster];
  });
  await informer.whenSynced(AbortSignal.timeout(10_000));

  expect(calls).toBe(10_000);
  expect(informer.by("cluster", "member-7").length).toBe(100);
  members.close();
  informers.close();
  await settle();
});

describe("a kind that is no longer served", () => {
  /** The server stops to serve the kind, which ends its watches. */
  async function withdraw({ client, clock, settle }: ReturnType<typeof setUp>): Promise<void> {
    client.setServed(Widget, false);
    client.disconnect();
    await settle();
    clock.advance(60_000);
    await settle();
  }

  test("is requested no more when its informer is open while the kind is served and has no listener", async () => {
    const world = setUp();
    await world.client.create(Widget, "hub", makeWidget("a"));
    const informer = world.informers.of(Widget, "while-served");
    const stop = informer.subscribe(() => {});
    await world.settle();
    stop();

    await withdraw(world);

    expect(informer.closed.aborted).toBe(true);
    expect(informer.list()).toEqual([]);
    expect(world.informers.unanswered(0)).toEqual([]);
  });

  const staysOpen: Record<string, (informers: ReturnType<typeof setUp>["informers"]) => Informer<KubernetesObject>> = {
    "has a listener": (informers) => {
      const informer = informers.of(Widget, "while-served");
      informer.subscribe(() => {});
      return informer;
    },
    "was also requested for good": (informers) => {
      informers.of(Widget, "while-served");
      return informers.of(Widget);
    },
  };
  for (const [reason, open] of Object.entries(staysOpen))
    test(`is followed again when it returns, because its informer ${reason}`, async () => {
      const world = setUp();
      const informer = open(world.informers);
      await world.settle();
      await withdraw(world);

      world.client.setServed(Widget, true);
      await world.client.create(Widget, "hub", makeWidget("b"));
      world.clock.advance(60_000);
      await world.settle();

      expect(informer.closed.aborted).toBe(false);
      expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(["b"]);
    });

  test("is followed again by a new informer when it returns", async () => {
    const world = setUp();
    const before = world.informers.of(Widget, "while-served");
    await world.settle();
    await withdraw(world);

    world.client.setServed(Widget, true);
    await world.client.create(Widget, "hub", makeWidget("b"));
    const after = world.informers.of(Widget, "while-served");
    await world.settle();

    expect(after).not.toBe(before);
    expect(after.list().map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });

  test("stays open for a listener beside a passive one, and not for the passive one alone", async () => {
    const world = setUp();
    const informer = world.informers.of(Widget, "while-served");
    informer.subscribe(() => {}, { isPassive: true });
    const stop = informer.subscribe(() => {});
    await world.settle();
    await withdraw(world);
    const withListener = informer.closed.aborted;

    stop();
    await withdraw(world);

    expect([withListener, informer.closed.aborted]).toEqual([false, true]);
  });
});
