import { expect, test } from "vitest";
import { Event, EventsEvent } from "@flotilla/kubernetes";
import { createFakeClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { CachedEntry } from "../store/cache.ts";
import { MERGE, PROFILE, createTestServer } from "../test-server.ts";
import type { TestServer, TestServerOptions } from "../test-server.ts";
import { EVENT_LIFETIME_MS, createEventExpiry } from "./event-expiry.ts";

const EVENTS = "/api/v1/namespaces/default/events";
const HALF_MS = EVENT_LIFETIME_MS / 2;
/** Events are deleted in batches, so they are checked a little after they expire. */
const SOON_MS = 5_000;

const makeEvent = (name: string, extra: JsonObject = {}): JsonObject => ({
  metadata: { name },
  involvedObject: { kind: "Pod", namespace: "default", name: "web" },
  reason: "Started",
  message: 'at "lastTimestamp":"2030-01-01T00:00:00Z"',
  type: "Normal",
  ...extra,
});

const start = (options: TestServerOptions = {}): Promise<TestServer> =>
  createTestServer({
    profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, Event, EventsEvent] } },
    ...options,
  });

async function pass({ clock, settle }: TestServer, ms: number): Promise<void> {
  clock.advance(ms);
  await settle();
}

async function names({ request }: TestServer, path = EVENTS): Promise<string[]> {
  const { body } = await request("GET", path);
  return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
}

test("an Event expires an hour after it was written, in every cluster", async () => {
  const server = await start({ clusters: { hub: "hub", paris: "hub" } });
  await server.request("POST", EVENTS, makeEvent("here"));
  await server.request("POST", `/clusters/paris${EVENTS}`, makeEvent("there"));

  await pass(server, EVENT_LIFETIME_MS - 1);
  const before = await names(server);
  await pass(server, SOON_MS);

  expect(before).toEqual(["here"]);
  expect(await names(server)).toEqual([]);
  expect(await names(server, `/clusters/paris${EVENTS}`)).toEqual([]);
  expect(server.clock.nextDue()).toBeUndefined();
});

test("writing an Event again restarts its hour, in either API group", async () => {
  const server = await start();
  for (const name of ["silent", "repeated", "newer"]) await server.request("POST", EVENTS, makeEvent(name));
  await pass(server, HALF_MS);
  await server.request("PATCH", `${EVENTS}/repeated`, { count: 2 }, MERGE);
  const { status } = await server.request(
    "PATCH",
    "/apis/events.k8s.io/v1/namespaces/default/events/newer",
    { metadata: { labels: { seen: "twice" } } },
    MERGE,
  );

  await pass(server, HALF_MS + SOON_MS);
  const left = await names(server);
  await pass(server, HALF_MS);

  expect(status).toBe(200);
  expect(left).toEqual(["newer", "repeated"]);
  expect(await names(server)).toEqual([]);
});

test("watchers see a DELETED event at the revision of the expiry", async () => {
  const server = await start();
  const { body } = await server.request("POST", EVENTS, makeEvent("a"));
  const { resourceVersion } = body.metadata as { resourceVersion: string };
  const watch = server.transport
    .watch(
      { path: { cluster: "hub", group: "", version: "v1", resource: "events" }, query: { resourceVersion } },
      AbortSignal.timeout(10_000),
    )
    [Symbol.asyncIterator]();

  const next = watch.next();
  await pass(server, EVENT_LIFETIME_MS + SOON_MS);
  const { value } = (await next) as {
    value: { type: string; object: { metadata: { name: string; resourceVersion: string } } }[];
  };
  await watch.return?.();

  expect(value).toMatchObject([{ type: "DELETED", object: { metadata: { name: "a" } } }]);
  expect(Number(value[0]?.object.metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
});

test("an earlier deletion and finalizers do not affect expiry", async () => {
  const server = await start();
  await server.request("POST", EVENTS, makeEvent("deleted"));
  await server.request(
    "POST",
    EVENTS,
    makeEvent("held", { metadata: { name: "held", finalizers: ["example.com/hold"] } }),
  );
  await server.request("DELETE", `${EVENTS}/deleted`);

  await pass(server, EVENT_LIFETIME_MS + SOON_MS);

  expect(await names(server)).toEqual([]);
});

test("a restart keeps the remaining time, ordered by the Events' timestamps", async () => {
  const clock = createFakeClock(Date.parse("2024-05-01T12:00:00Z"));
  const makeEntry = (name: string, fields: JsonObject): CachedEntry => ({
    key: `/core/events/hub/default/${name}`,
    revision: 7,
    value: Buffer.from(JSON.stringify({ ...makeEvent(name), ...fields })),
  });
  const entries = [
    makeEntry("ahead-of-us", {
      metadata: { creationTimestamp: "2024-05-01T10:00:00Z" },
      lastTimestamp: "2031-01-01T00:00:00Z",
    }),
    makeEntry("changed", {
      metadata: { creationTimestamp: "2024-05-01T10:00:00Z", managedFields: [{ time: "2024-05-01T11:10:00Z" }] },
    }),
    makeEntry("created", {
      metadata: { creationTimestamp: "2024-05-01T11:05:00Z" },
      message: "at 2024-05-01T11:59:00Z",
    }),
    makeEntry("past", {
      metadata: { creationTimestamp: "2024-05-01T10:00:00Z" },
      eventTime: "2024-05-01T10:00:00.000000Z",
    }),
    makeEntry("timeless", { metadata: {}, eventTime: null, lastTimestamp: "soon" }),
    {
      key: "/core/pods/hub/default/old",
      revision: 7,
      value: Buffer.from('{"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z"}}'),
    },
  ];
  const gone: string[] = [];
  const housekeeping = {
    signal: new AbortController().signal,
    enqueue: (_key: string, work: () => Promise<void>) => void work(),
  };
  const cache = {
    get: (key: string) => entries.find((entry) => entry.key === key),
    async write({ key, expect: revision }: { key: string; expect: unknown }) {
      gone.push(
        `${key.split("/").at(-1)}@${String(revision)} after ${Math.round((clock.now() - Date.parse("2024-05-01T12:00:00Z")) / 60_000)} min`,
      );
      for (const previous of entries) if (previous.key === key) expiry.observe({ revision: 8, previous });
      return { ok: true as const, revision: 8 };
    },
  };
  const expiry = createEventExpiry({ housekeeping, cache, clock });

  expiry.load(entries);
  for (let minutes = 0; minutes < 61; minutes++) {
    clock.advance(60_000);
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(gone).toEqual([
    "past@7 after 0 min",
    "created@7 after 5 min",
    "changed@7 after 10 min",
    "ahead-of-us@7 after 60 min",
    "timeless@7 after 60 min",
  ]);
  expect(clock.nextDue()).toBeUndefined();
});

test("many Events that expire together are deleted in batches, which do not count as client writes", async () => {
  const server = await start();
  await Promise.all(Array.from({ length: 1200 }, (_, index) => server.request("POST", EVENTS, makeEvent(`e${index}`))));

  await pass(server, EVENT_LIFETIME_MS);
  const afterOne = server.cache.count("/core/events/");
  await pass(server, SOON_MS);
  await pass(server, SOON_MS);

  expect(afterOne).toBe(200);
  expect(server.cache.count("/core/events/")).toBe(0);
  expect(server.server.writes.counts().filter(({ verb }) => verb === "delete")).toEqual([]);
});
