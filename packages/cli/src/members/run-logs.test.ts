import { expect, test } from "vitest";
import type { Clock, JsonObject } from "@flotilla/base";
import { internalError } from "@flotilla/apimachinery";
import { createOutput } from "../output.ts";
import { runLogs } from "./run-logs.ts";
import type { LogsOptions } from "./run-logs.ts";
import { bytesOf, createTestHub } from "./test-hub.ts";
import type { Answers } from "./test-hub.ts";

const PODS = "/api/v1/namespaces/shop/pods";
const SELECTED = `${PODS}?limit=500&labelSelector=app%3Dweb`;
const logPath = (pod: string, more = ""): string => `${PODS}/${pod}/log?container=web${more}`;
const pod = (name: string): JsonObject => ({
  metadata: { name, namespace: "shop" },
  spec: { containers: [{ name: "web" }] },
  status: { phase: "Running" },
});
const podList = (...names: string[]): JsonObject => ({ kind: "PodList", metadata: {}, items: names.map(pod) });
const options = (more: Partial<LogsOptions> = {}): LogsOptions => ({
  labelSelector: "app=web",
  namespace: "shop",
  clusters: [],
  allContainers: false,
  follow: false,
  previous: false,
  timestamps: false,
  prefix: false,
  maxRequests: 20,
  ...more,
});
const logs = (texts: Record<string, string[]>): Answers => ({
  [SELECTED]: podList(...Object.keys(texts)),
  ...Object.fromEntries(Object.entries(texts).map(([name, parts]) => [logPath(name), () => bytesOf(...parts)])),
});

test("logs of several pods are printed one after the other, each line with its source", async () => {
  const hub = createTestHub({
    member1: logs({ b: ["3\n"], a: ["1", "\n2\n"] }),
    member2: logs({ c: ["half a line"] }),
  });

  expect(await runLogs(options(), hub)).toBe(0);

  expect(hub.said.out).toBe("[member1/a] 1\n[member1/a] 2\n[member1/b] 3\n[member2/c] half a line\n");
});

for (const [format, want] of [
  [
    "json",
    '{"cluster":"member1","namespace":"shop","pod":"a","container":"web","line":"1"}\n' +
      '{"cluster":"member1","namespace":"shop","pod":"a","container":"web","line":"2"}\n',
  ],
  [
    "yaml",
    "- cluster: member1\n" +
      "  container: web\n" +
      '  line: "1"\n' +
      "  namespace: shop\n" +
      "  pod: a\n" +
      "- cluster: member1\n" +
      "  container: web\n" +
      '  line: "2"\n' +
      "  namespace: shop\n" +
      "  pod: a\n",
  ],
] as const) {
  test(`with -o ${format} every line is data with its source`, async () => {
    const hub = createTestHub({ member1: logs({ a: ["1\n2\n"] }) });
    const output = createOutput({ format, write: () => {}, warn: () => {}, showProgress: () => {} });

    await runLogs(options(), { ...hub, output });

    expect(hub.said.out).toBe(want);
  });
}

test("the log of a single pod is printed verbatim", async () => {
  const hub = createTestHub({ member1: logs({ a: ["1\n"] }), member2: { [SELECTED]: podList() } });

  await runLogs(options(), hub);

  expect(hub.said.out).toBe("1\n");
});

test("log options are passed to the member", async () => {
  const hub = createTestHub({ member1: { [SELECTED]: podList("a") } });

  await runLogs(options({ previous: true, timestamps: true, tail: 5, sinceSeconds: 60 }), hub);

  expect(hub.asked.at(-1)).toBe(
    `member1 ${logPath("a", "&previous=true&timestamps=true&tailLines=5&sinceSeconds=60")}`,
  );
});

test("a log that cannot be read is reported, and the others are printed", async () => {
  const broken = { ...logs({ a: [] }), [logPath("a")]: internalError("no kubelet") };
  const hub = createTestHub({ member1: broken, member2: logs({ c: ["3\n"] }) });

  expect(await runLogs(options(), hub)).toBe(1);

  expect(hub.said).toEqual({ out: "[member2/c] 3\n", err: "member1/a: Internal error occurred: no kubelet\n" });
});

test("a member that stops responding in the middle of a log does not delay the rest", async () => {
  async function* silent(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("1\n");
    await new Promise((_resolve, reject) => {
      stopped = reject;
    });
  }
  let stopped: (reason: Error) => void = () => {};
  const hub = createTestHub({ member1: { ...logs({ a: [] }), [logPath("a")]: silent }, member2: logs({ c: ["3\n"] }) });
  // Timeouts fire as soon as a member has sent all it will; an abandoned stream fails.
  const clock: Clock = {
    ...hub.asking.clock,
    after: (_delayMs, run) => {
      const timer = setImmediate(() => {
        run();
        stopped(new Error("no response within 10 s"));
      });
      return { cancel: () => clearImmediate(timer) };
    },
  };

  expect(await runLogs(options(), { ...hub, asking: { ...hub.asking, clock } })).toBe(1);

  expect(hub.said).toEqual({ out: "[member1/a] 1\n[member2/c] 3\n", err: "member1/a: no response within 10 s\n" });
});

test("following more containers than allowed is rejected before any is read", async () => {
  const hub = createTestHub({ member1: logs({ a: [], b: [] }) });

  await expect(runLogs(options({ follow: true, maxRequests: 1 }), hub)).rejects.toThrow(
    "following 2 containers exceeds the limit of 1",
  );

  expect(hub.asked.filter((path) => path.includes("/log"))).toEqual([]);
});

test("a missing workload is reported with the members that were queried", async () => {
  const hub = createTestHub({ member1: {} });

  await expect(runLogs({ ...options(), named: "pod/none" }, hub)).rejects.toThrow(
    "there is no pod/none in namespace shop on member1",
  );
});
