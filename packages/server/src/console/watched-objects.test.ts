/** Objects that are watched on a member which loses its connection, rejects requests, or has too many of them. */
import { beforeEach, expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { Pod } from "@flotilla/kubernetes";
import { createTestHub, watchEvent, watchEvents } from "./test-hub.ts";
import type { TestHub } from "./test-hub.ts";
import { watchObjects } from "./watched-objects.ts";
import type { WatchedObjects } from "./watched-objects.ts";

const PODS = "/apis/cluster.karmada.io/v1alpha1/clusters/oslo/proxy/api/v1/namespaces/shop/pods";
/** Above the longest pause between two attempts. */
const RETRIED_MS = 30_000;

let clock: FakeClock;
let hub: TestHub;
let watched: WatchedObjects<Pod>;
/** The state at each call back. */
let seen: string[];
beforeEach(async () => {
  clock = createFakeClock();
  hub = createTestHub();
  seen = [];
  hub.stream(PODS);
  watched = watchObjects({
    client: hub.client,
    clock,
    log: silentLog,
    kind: Pod,
    member: "oslo",
    select: { namespace: "shop", labelSelector: "app=web" },
    maxObjects: 3,
    onChange: () => seen.push(`${names().join(" ")}${watched.isLive() ? "" : " (not live)"}`),
  });
  await hub.settle();
  return () => watched.close();
});

const names = (): string[] =>
  watched
    .list()
    .map(({ metadata }) => metadata.name)
    .sort();
async function write(...events: string[]): Promise<void> {
  hub.streamOf(PODS).write(events.join(""));
  await hub.settle();
}
async function retry(): Promise<void> {
  clock.advance(RETRIED_MS);
  await hub.settle();
}

test("a list with its changes is live", async () => {
  expect(watched.isListed()).toBe(false);

  await write(...watchEvents("a", "b"));
  await write(watchEvent("DELETED", "a"), watchEvent("ADDED", "c"));

  expect(hub.streamOf(PODS).url.searchParams.get("labelSelector")).toBe("app=web");
  expect(seen.at(-1)).toBe("b c");
});

test("an empty list is live", async () => {
  await write(...watchEvents());

  expect([watched.isListed(), watched.isLive(), seen.at(-1)]).toEqual([true, true, ""]);
});

test("objects that are deleted while the connection is lost are gone when it is back", async () => {
  await write(...watchEvents("a", "b"));
  hub.streamOf(PODS).end(new Error("connection lost"));
  await hub.settle();
  expect(seen.at(-1)).toBe("a b (not live)");
  expect(String(watched.failure())).toContain("connection lost");

  // It resumes after what it has seen; here the server no longer has the history.
  await retry();
  await write('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n');
  await retry();
  await write(...watchEvents("b"));

  expect(seen.at(-1)).toBe("b");
  expect(watched.failure()).toBeUndefined();
});

test("a watch that resumes is live before the next change", async () => {
  await write(...watchEvents("a"));
  hub.streamOf(PODS).end(new Error("connection lost"));
  await hub.settle();

  await retry();

  expect(hub.streamOf(PODS).url.searchParams.get("resourceVersion")).toBe("100");
  expect(seen.at(-1)).toBe("a");
});

test("a rejection is reported until it is over", async () => {
  hub.answer(PODS, { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: "forbidden" }, 403);
  hub.streamOf(PODS).end(new Error("connection lost"));
  await hub.settle();
  await retry();
  expect(String(watched.failure())).toContain("forbidden");

  hub.stream(PODS);
  await retry();
  await write(...watchEvents("a"));

  expect([watched.failure(), seen.at(-1)]).toEqual([undefined, "a"]);
});

test("a server that rejects again and again is asked less and less often", async () => {
  hub.answer(PODS, { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: "forbidden" }, 403);
  hub.streamOf(PODS).end(new Error("connection lost"));
  await hub.settle();
  const before = hub.requests.length;

  for (let second = 0; second < 120; second++) {
    clock.advance(1_000);
    await hub.settle();
  }

  expect(hub.requests.length - before).toBeLessThan(20);
});

test("a server that lists only without a watch is listed, then watched", async () => {
  watched.close();
  hub.answer(
    PODS,
    { kind: "Status", status: "Failure", code: 422, reason: "Invalid", message: "sendInitialEvents" },
    422,
  );
  watched = watchObjects({
    client: hub.client,
    clock,
    log: silentLog,
    kind: Pod,
    member: "oslo",
    select: { namespace: "shop" },
    maxObjects: 3,
    onChange: () => {},
  });
  await hub.settle();

  hub.answer(PODS, { metadata: { resourceVersion: "7" }, items: [{ metadata: { name: "a", namespace: "shop" } }] });
  await retry();

  expect(names()).toEqual(["a"]);
  expect(hub.requests.at(-1)?.searchParams.get("resourceVersion")).toBe("7");
});

test("only so many objects are held, and the others counted", async () => {
  await write(...watchEvents("a", "b", "c", "d", "e"));
  expect([names(), watched.omitted()]).toEqual([["a", "b", "c"], 2]);

  await write(watchEvent("DELETED", "d"), watchEvent("DELETED", "a"), watchEvent("MODIFIED", "e"));

  expect([names(), watched.omitted()]).toEqual([["b", "c", "e"], 0]);
});

test("a closed watch ends its request and its timers, and calls back no more", async () => {
  await write(...watchEvents("a"));
  const calls = seen.length;
  const stream = hub.streamOf(PODS);

  watched.close();
  await hub.settle();

  expect(stream.isOpen).toBe(false);
  expect(clock.nextDue()).toBeUndefined();
  expect(seen).toHaveLength(calls);
});
