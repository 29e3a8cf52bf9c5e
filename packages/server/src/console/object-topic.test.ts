/** The view of one workload while members lose their connection, reject requests, and pods come and go. */
import { beforeEach, expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { FakeClock, JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { ObjectView } from "@flotilla/web";
import { openObjectTopic } from "./object-topic.ts";
import { createTestHub, watchEvent, watchEvents } from "./test-hub.ts";
import type { TestHub } from "./test-hub.ts";

const TEMPLATE = "/apis/apps/v1/namespaces/shop/deployments";
const BINDING = "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings";
const MEMBER = "/apis/cluster.karmada.io/v1alpha1/clusters/oslo/proxy";
const COPY = `${MEMBER}${TEMPLATE}`;
const PODS = `${MEMBER}/api/v1/namespaces/shop/pods`;
/** Above the longest pause between two attempts. */
const RETRIED_MS = 30_000;

let clock: FakeClock;
let hub: TestHub;
let stop: AbortController;
let views: ObjectView[];
let failures: string[];
beforeEach(async () => {
  clock = createFakeClock();
  hub = createTestHub();
  stop = new AbortController();
  views = [];
  failures = [];
  for (const path of [TEMPLATE, BINDING, COPY, PODS]) hub.stream(path);
  return () => stop.abort();
});

const listWorks: Client["list"] = async () => ({ items: [], resourceVersion: "1" });

async function open(list = listWorks, name = "web"): Promise<void> {
  await openObjectTopic({
    client: { ...hub.client, list },
    clock,
    log: silentLog,
    ref: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name },
    isReady: () => true,
    send: (view) => views.push(view),
    fail: (reason) => failures.push(reason),
    signal: stop.signal,
  });
  await pass(0);
}
async function pass(ms: number): Promise<void> {
  await hub.settle();
  clock.advance(ms);
  await hub.settle();
}
async function write(path: string, ...events: string[]): Promise<void> {
  hub.streamOf(path).write(events.join(""));
  await pass(30);
}

const named = (name: string, fields: JsonObject = {}, labels: Record<string, string> = {}) => ({
  ...fields,
  metadata: { name, namespace: "shop", labels },
});
const web = named("web", { spec: { replicas: 2, selector: { matchLabels: { app: "web" } } } });
const bound = (...members: string[]) =>
  named(
    "web-deployment",
    { spec: { resource: {}, clusters: members.map((name) => ({ name, replicas: 2 })) } },
    { "resourcebinding.karmada.io/permanent-id": "b1" },
  );
const pod = (name: string) => named(name, { spec: { containers: [{ name: "app", image: "web:1" }] }, status: {} });

async function openWithPods(...names: string[]): Promise<void> {
  await open();
  await write(TEMPLATE, ...watchEvents(web));
  await write(BINDING, ...watchEvents(bound("oslo")));
  await write(COPY, ...watchEvents(web));
  await write(PODS, ...watchEvents(...names.map(pod)));
}
const shown = (): string => {
  const [copy] = views.at(-1)?.copies ?? [];
  return `${copy?.pods.map(({ name }) => name).join(" ")} ${copy?.live ? "live" : `not live: ${copy?.notLive}`}`;
};

test("shows the pods of a member as they come and go", async () => {
  await openWithPods("web-1", "web-2");
  expect(shown()).toBe("web-1 web-2 live");

  await write(PODS, watchEvent("DELETED", pod("web-1")), watchEvent("ADDED", pod("web-3")));

  expect(shown()).toBe("web-2 web-3 live");
});

test("pods that are gone after a watch broke are not shown", async () => {
  await openWithPods("web-1", "web-2");
  hub.streamOf(PODS).end(new Error("connection lost"));
  await pass(30);
  expect(shown()).toBe("web-1 web-2 not live: connection lost");

  await pass(RETRIED_MS);
  await write(PODS, '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n');
  await pass(RETRIED_MS);
  await write(PODS, ...watchEvents(pod("web-2")));

  expect(shown()).toBe("web-2 live");
});

test("no pod is shown when all are gone after a watch broke", async () => {
  await openWithPods("web-1");
  hub.streamOf(PODS).end(new Error("connection lost"));
  await pass(RETRIED_MS);
  await write(PODS, '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n');
  await pass(RETRIED_MS);

  await write(PODS, ...watchEvents());

  expect(shown()).toBe(" live");
});

test("a member that rejects the viewer is named as not live, with the reason", async () => {
  await openWithPods("web-1");
  const forbidden = { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: "pods is forbidden" };
  hub.answer(PODS, forbidden, 403);
  hub.streamOf(PODS).end(new Error("connection lost"));
  await pass(RETRIED_MS);
  await pass(30);

  expect(shown()).toBe("web-1 not live: pods is forbidden");
});

test("an object that the hub does not have is shown as missing", async () => {
  await open();
  await write(TEMPLATE, ...watchEvents());

  expect(views.at(-1)?.template).toBeUndefined();
  expect(failures).toEqual([]);
});

test("a name is escaped in a selector", async () => {
  await open(listWorks, "<img src=x,y>");

  expect(hub.streamOf(TEMPLATE).url.searchParams.get("fieldSelector")).toBe(String.raw`metadata.name=<img src\=x\,y>`);
});

test("an object that the viewer may not read is a failure with its reason", async () => {
  const forbidden = { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: "forbidden" };
  hub.answer(TEMPLATE, forbidden, 403);
  await open();
  await pass(30);

  expect(views).toEqual([]);
  expect(failures).toEqual(["forbidden"]);
});

test("a binding that cannot be read is noted", async () => {
  const forbidden = { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: "forbidden" };
  hub.answer(BINDING, forbidden, 403);
  await open();
  await write(TEMPLATE, ...watchEvents(web));

  expect(views.at(-1)?.notes).toEqual(["the binding cannot be read: forbidden"]);
});

test("Works that cannot be read are noted until they can", async () => {
  let isBroken = true;
  await open(async (kind, options) => {
    if (isBroken) throw new Error("no answer");
    return listWorks(kind, options);
  });
  await write(TEMPLATE, ...watchEvents(web));
  await write(BINDING, ...watchEvents(bound("oslo")));
  expect(views.at(-1)?.notes).toEqual(["the delivery cannot be read: oslo: no answer"]);

  isBroken = false;
  await write(BINDING, watchEvent("MODIFIED", bound("oslo")));
  await pass(1_000);
  await pass(30);

  expect(views.at(-1)?.notes).toEqual([]);
});

test("a member that leaves the binding is no longer watched", async () => {
  await openWithPods("web-1");
  const streams = [hub.streamOf(COPY), hub.streamOf(PODS)];

  await write(BINDING, watchEvent("MODIFIED", bound()));

  expect(views.at(-1)?.copies).toEqual([]);
  expect(streams.map(({ isOpen }) => isOpen)).toEqual([false, false]);
});

test("a closed topic ends its requests and timers", async () => {
  await openWithPods("web-1");
  const streams = [TEMPLATE, BINDING, COPY, PODS].map((path) => hub.streamOf(path));
  const count = views.length;

  stop.abort();
  await hub.settle();

  expect(streams.map(({ isOpen }) => isOpen)).toEqual([false, false, false, false]);
  expect(clock.nextDue()).toBeUndefined();
  expect(views).toHaveLength(count);
});
