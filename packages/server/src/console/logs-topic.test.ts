/** Logs of a workload whose containers end, are restarted, and are replaced by those of a release. */
import { beforeEach, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { FakeClock, JsonObject } from "@flotilla/base";
import type { LogsMessage } from "@flotilla/web";
import { MAX_MEMBERS, openLogsTopic } from "./logs-topic.ts";
import { MAX_OPEN } from "./plan-follows.ts";
import { createTestHub } from "./test-hub.ts";
import type { TestHub } from "./test-hub.ts";

const MEMBER = "/apis/cluster.karmada.io/v1alpha1/clusters/oslo/proxy";
const PODS = `${MEMBER}/api/v1/namespaces/shop/pods`;
const WEB = { metadata: { name: "web" }, spec: { selector: { matchLabels: { app: "web" } } } };

let clock: FakeClock;
let hub: TestHub;
let stop: AbortController;
let sent: LogsMessage[];
let opening: Promise<void>;
beforeEach(() => {
  clock = createFakeClock();
  hub = createTestHub();
  stop = new AbortController();
  sent = [];
  hub.answer(`${MEMBER}/apis/apps/v1/namespaces/shop/deployments/web`, WEB);
  return () => stop.abort();
});

function pod(name: string, { runs = true, restarts = 0 } = {}): JsonObject {
  hub.stream(`${PODS}/${name}/log`);
  const state: JsonObject = runs ? { running: {} } : { terminated: { exitCode: 0 } };
  return {
    metadata: { name, uid: name },
    spec: { containers: [{ name: "app" }] },
    status: { containerStatuses: [{ name: "app", restartCount: restarts, state }] },
  };
}
const setPods = (...items: JsonObject[]): void => hub.answer(PODS, { items });

async function open(...members: string[]): Promise<void> {
  opening = openLogsTopic({
    client: hub.client,
    clock,
    ref: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
    members: members.length === 0 ? ["oslo"] : members,
    pod: undefined,
    container: undefined,
    tail: 10,
    send: (message) => sent.push(message),
    fail: (reason) => expect.fail(reason),
    signal: stop.signal,
  });
  await pass(100);
}
async function pass(ms: number): Promise<void> {
  await hub.settle();
  clock.advance(ms);
  await hub.settle();
}
/** Until members are looked at again, and what changed was sent. */
async function look(): Promise<void> {
  await pass(3_000);
  await pass(100);
}
const log = (name: string) => hub.streamOf(`${PODS}/${name}/log`);
const texts = (): string[] => sent.flatMap(({ lines }) => lines.map(({ text }) => text));
const sources = (): string[] => (sent.at(-1)?.sources ?? []).map(({ pod: name, state }) => `${name} ${state}`);

test("a restarted container is followed from its last line on, without doubled lines", async () => {
  setPods(pod("web-1"));
  await open();
  log("web-1").write("12:00:01.5Z a\n12:00:01.5Z b\n");
  log("web-1").end();
  await pass(100);
  expect(sources()).toEqual(["web-1 ended"]);

  setPods(pod("web-1", { restarts: 1 }));
  await look();
  expect(log("web-1").url.searchParams.get("sinceTime")).toBe("12:00:01.5Z");
  expect(log("web-1").url.searchParams.has("tailLines")).toBe(false);
  log("web-1").write("12:00:01.2Z before\n12:00:01.5Z a\n12:00:01.5Z b\n12:00:01.5Z b\n12:00:02Z c\n");
  await pass(100);

  expect(texts()).toEqual(["a", "b", "b", "c"]);
  expect(sources()).toEqual(["web-1 open"]);
});

test("the log of a container that has completed is read once", async () => {
  setPods(pod("job-1", { runs: false }));
  await open();
  log("job-1").write("12:00:01Z done\n");
  log("job-1").end();

  await look();
  await look();

  expect(hub.streamsOf(`${PODS}/job-1/log`)).toHaveLength(1);
  expect(texts()).toEqual(["done"]);
});

test("pods of a release are followed although more than the limit have ended before", async () => {
  const old = Array.from({ length: MAX_OPEN }, (_, index) => `old-${index}`);
  setPods(...old.map((name) => pod(name)));
  await open();
  for (const name of old) log(name).end();

  setPods(pod("new-1"), ...old.map((name) => pod(name, { runs: false })));
  await look();

  expect(sources()).toContain("new-1 open");
  expect(sent.at(-1)?.notes).toEqual([]);
});

test("containers above the limit are noted, and followed when others are gone", async () => {
  const names = Array.from({ length: MAX_OPEN + 1 }, (_, index) => `web-${index}`);
  setPods(...names.map((name) => pod(name)));
  await open();
  await pass(100);
  expect(sources()).toHaveLength(MAX_OPEN);
  expect(sent.at(-1)?.notes).toEqual([
    "only 20 containers are followed at once; choose members or a pod to see others",
  ]);

  log("web-0").end();
  setPods(...names.slice(1).map((name) => pod(name)));
  await look();

  expect(sources()).toContain(`web-${MAX_OPEN} open`);
  expect(sources()).not.toContain("web-0 ended");
  expect(sent.at(-1)?.notes).toEqual([]);
});

test("a container whose log cannot be read is noted until it can", async () => {
  setPods(pod("web-1"));
  hub.answer(`${PODS}/web-1/log`, { message: "container is waiting to start" }, 400);
  await open();
  await pass(100);
  expect(sources()).toEqual(["web-1 failed"]);
  expect(sent.at(-1)?.notes).toEqual(["oslo/web-1: container is waiting to start"]);

  hub.stream(`${PODS}/web-1/log`);
  await look();

  expect(sources()).toEqual(["web-1 open"]);
  expect(sent.at(-1)?.notes).toEqual([]);
});

test("a connection that breaks resumes at the last line", async () => {
  setPods(pod("web-1"));
  await open();
  log("web-1").write("12:00:01Z a\n");
  log("web-1").end(new Error("connection lost"));
  await look();

  log("web-1").write("12:00:01Z a\n12:00:02Z b\n");
  await pass(100);

  expect(texts()).toEqual(["a", "b"]);
});

test("a member that cannot be read is noted until it can", async () => {
  hub.answer(PODS, { message: "pods is forbidden" }, 403);
  await open();
  await pass(100);
  expect(sent.at(-1)?.notes).toEqual(["oslo: pods is forbidden"]);

  setPods(pod("web-1"));
  await look();

  expect(sent.at(-1)?.notes).toEqual([]);
});

test("pods that are not looked at are noted", async () => {
  hub.answer(PODS, { metadata: { continue: "next" }, items: [pod("web-1")] });
  await open();
  await pass(100);

  expect(sent.at(-1)?.notes).toEqual(["oslo: only the first 100 pods are looked at; choose a pod to see others"]);
});

test("a closed topic ends its requests and timers", async () => {
  setPods(pod("web-1"), pod("web-2"));
  await open();

  stop.abort();
  await opening;

  expect(hub.streamsOf(`${PODS}/web-1/log`).map(({ isOpen }) => isOpen)).toEqual([false]);
  expect(clock.nextDue()).toBeUndefined();
});

test("of a large fleet only so many members are looked at, and a note says so", async () => {
  setPods(pod("web-1"));
  const others = Array.from({ length: MAX_MEMBERS }, (_, index) => `member${index}`);

  await open("oslo", ...others);

  expect(sent.at(-1)?.notes).toContain(
    `only ${MAX_MEMBERS} of ${MAX_MEMBERS + 1} members are looked at; choose members to see others`,
  );
  expect(sent.at(-1)?.notes.some((note) => note.startsWith(`member${MAX_MEMBERS - 1}:`))).toBe(false);
});
