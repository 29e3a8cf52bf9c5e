import { describe, expect, test } from "vitest";
import { Pod } from "@flotilla/kubernetes";
import { createFakeClock, createSeededRandom, silentLog, omitZero } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { createInformers } from "@flotilla/controller-runtime";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { logLines } from "./log-lines.ts";
import type { LogLine } from "./log-lines.ts";
import { createSimulatedRuntime } from "./logs.ts";
import { planPodStatus, stoppingStatus } from "../kubelet/pod-status.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const settledStatus = (
  pod: DeepReadonly<Pod>,
  hostIP: string | undefined,
  nowMs: number,
): DeepReadonly<NonNullable<Pod["status"]>> => planPodStatus(pod, { nowMs, hostIP, podIP: () => "10.128.0.1" }).status;
const makePod = (image = "web:1"): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "shop", uid: "u-1" },
  spec: { nodeName: "node-000", containers: [{ name: "main", image }] },
});
/** The pod as its simulated kubelet reports it. */
const running = (pod: DeepReadonly<Pod>, nowMs = NOW): Pod =>
  ({ ...pod, status: settledStatus(pod, undefined, nowMs) }) as Pod;
const reported = (lines: readonly LogLine[]): string[] =>
  lines.map(({ timeMs, text }) => `${(timeMs - NOW) / 1000} ${text}`);

describe("the log of a simulated container", () => {
  test("shows when and where it started, what it runs, and that it is ready", () => {
    expect(reported(logLines(running(makePod()), "main", NOW))).toEqual([
      "0 container main of pod shop/p starts on node node-000",
      "0 image web:1; the container is simulated, no process runs",
      "0 ready",
    ]);
  });

  test("starts again when the container restarts, and keeps the previous log", () => {
    const updated = running({ ...running(makePod()), spec: makePod("web:2").spec }, NOW + 60_000);

    expect(reported(logLines(updated, "main", NOW + 60_000))).toEqual([
      "60 container main of pod shop/p starts on node node-000, restart 1",
      "60 image web:2; the container is simulated, no process runs",
      "60 ready",
    ]);
    expect(reported(logLines(updated, "main", NOW + 60_000, true)).at(-1)).toBe("60 stopped with exit code 0");
  });

  test("the log of a simulated container of a container in a crash loop is the log of its last run", () => {
    const crashing = {
      ...makePod(),
      metadata: { ...makePod().metadata, annotations: { "simulation.flotilla.dev/fault": "crash-loop" } },
    };

    expect(reported(logLines(running(crashing), "main", NOW)).at(-1)).toBe("0 stopped with exit code 1");
  });

  test("contains the echoed text once it is due", () => {
    const echoing = makePod();
    echoing.spec.containers = [
      { name: "main", image: "web:1", command: ["sh", "-c", "echo hello; sleep 5; echo bye"] },
    ];
    const up = running(echoing);

    expect(reported(logLines(up, "main", NOW + 4_000)).slice(2)).toEqual(["0 ready", "0 hello"]);
    expect(reported(logLines(up, "main", NOW + 5_000)).slice(2)).toEqual(["0 ready", "0 hello", "5 bye"]);
  });

  test("the log of a simulated container of a container that ended early omits the remaining output", () => {
    const echoing = makePod();
    echoing.spec = {
      ...echoing.spec,
      activeDeadlineSeconds: 3,
      containers: [{ name: "main", image: "web:1", command: ["sh", "-c", "echo hello; sleep 5; echo bye"] }],
    };
    const late = running(running(echoing), NOW + 3_000);

    expect(reported(logLines(late, "main", NOW + 60_000)).slice(2)).toEqual([
      "0 hello",
      "3 stopped with exit code 137",
    ]);
  });

  const refused: Record<string, { pod: DeepReadonly<Pod>; previous?: boolean; want: string }> = {
    "is an error while the container has not started": {
      pod: makePod(),
      want: 'container "main" in pod "p" is waiting to start: ContainerCreating',
    },
    "is an error when the image cannot be pulled": {
      pod: running(makePod("web:broken")),
      want: 'container "main" in pod "p" is waiting to start: trying and failing to pull image',
    },
    "has no previous log before the first restart": {
      pod: running(makePod()),
      previous: true,
      want: 'previous terminated container "main" in pod "p" not found',
    },
  };
  for (const [behaviour, { pod, previous, want }] of Object.entries(refused)) {
    test(behaviour, () => {
      expect(() => logLines(pod, "main", NOW, previous)).toThrow(want);
    });
  }
});

async function startMember() {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const informers = createInformers({
    client,
    clock,
    log: silentLog,
    scope: { cluster: "*", where: (cluster) => cluster !== "hub" },
    random: createSeededRandom(1),
  });
  const runtime = createSimulatedRuntime({ informers, clock });
  await client.create(Pod, "paris", makePod());
  const report = async (
    change: (pod: DeepReadonly<Pod>) => DeepReadonly<Pod["status"]>,
  ): Promise<DeepReadonly<Pod>> => {
    const pod = await client.get(Pod, { cluster: "paris", namespace: "shop", name: "p" });
    const status = change(pod);
    return client.updateStatus(Pod, "paris", { ...pod, ...omitZero({ status }) });
  };
  const target = (pod: DeepReadonly<Pod>) => ({
    cluster: "paris",
    namespace: "shop",
    container: "main",
    pod: pod as unknown as DeepReadonly<JsonObject>,
  });
  return { client, clock, informers, runtime, report, target };
}

/** All lines until the log ends. */
async function rest(lines: AsyncIterable<LogLine>): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of lines) texts.push(text);
  return texts;
}

describe("a log follower", () => {
  test("receives new lines, and the end of the log when the pod is deleted", async () => {
    const { client, informers, runtime, report, target } = await startMember();
    await report((pod) => settledStatus(pod, undefined, NOW));
    const unready = await report((pod) => stoppingStatus(pod, ["main"], NOW));
    const log = runtime.logs(target(unready), { previous: false });

    const following = log.follow(new AbortController().signal)[Symbol.asyncIterator]();
    const next = following.next();
    await report((pod) => settledStatus(pod, undefined, NOW + 1000));
    const added = await next;
    await client.delete(Pod, { cluster: "paris", namespace: "shop", name: "p" }, { gracePeriodSeconds: 0 });
    const end = await following.next();

    expect(log.lines.map(({ text }) => text)).toEqual([
      "container main of pod shop/p starts on node node-000",
      "image web:1; the container is simulated, no process runs",
    ]);
    expect([added.value, end.done]).toEqual([{ timeMs: NOW + 1000, text: "ready" }, true]);
    informers.close();
  });

  test("receives the container's exit and no line twice", async () => {
    const { client, informers, runtime, report, target } = await startMember();
    const pod = await client.get(Pod, { cluster: "paris", namespace: "shop", name: "p" });
    await client.update(Pod, "paris", {
      ...pod,
      spec: {
        ...pod.spec,
        restartPolicy: "Never",
        containers: [
          { name: "main", image: "web:1", command: ["sh", "-c", "echo a; echo a; sleep 5; echo a; exit 2"] },
        ],
      },
    });
    const up = await report((changed) => settledStatus(changed, undefined, NOW));

    const log = runtime.logs(target(up), { previous: false });
    const following = rest(log.follow(new AbortController().signal));
    await report((changed) => settledStatus(changed, undefined, NOW + 5_000));

    expect([...log.lines.map(({ text }) => text).slice(2), ...(await following)]).toEqual([
      "ready",
      "a",
      "a",
      "a",
      "stopped with exit code 2",
    ]);
    informers.close();
  });

  test("receives the end of the log when the container restarts", async () => {
    const { client, informers, runtime, report, target } = await startMember();
    const up = await report((pod) => settledStatus(pod, undefined, NOW));

    const following = rest(runtime.logs(target(up), { previous: false }).follow(new AbortController().signal));
    const pod = await client.get(Pod, { cluster: "paris", namespace: "shop", name: "p" });
    await client.update(Pod, "paris", {
      ...pod,
      spec: { ...pod.spec, containers: [{ name: "main", image: "web:2" }] },
    });
    await report((changed) => settledStatus(changed, undefined, NOW + 1000));

    expect(await following).toEqual([]);
    informers.close();
  });

  test("receives echoed text when it is due", async () => {
    const { client, clock, informers, runtime, report, target } = await startMember();
    const pod = await client.get(Pod, { cluster: "paris", namespace: "shop", name: "p" });
    await client.update(Pod, "paris", {
      ...pod,
      spec: { ...pod.spec, containers: [{ name: "main", image: "web:1", command: ["sh", "-c", "sleep 5; echo bye"] }] },
    });
    const up = await report((changed) => settledStatus(changed, undefined, clock.now()));

    const following = runtime
      .logs(target(up), { previous: false })
      .follow(new AbortController().signal)
      [Symbol.asyncIterator]();
    const next = following.next();
    clock.advance(5_000);
    const { value } = await next;
    await following.return?.(undefined);

    expect(value).toMatchObject({ text: "bye" });
    expect(clock.nextDue()).toBeUndefined();
    informers.close();
  });

  test("may disconnect at any time", async () => {
    const { informers, runtime, report, target } = await startMember();
    const up = await report((pod) => settledStatus(pod, undefined, NOW));
    const leave = new AbortController();

    const following = rest(runtime.logs(target(up), { previous: false }).follow(leave.signal));
    leave.abort();

    expect(await following).toEqual([]);
    informers.close();
  });
});
