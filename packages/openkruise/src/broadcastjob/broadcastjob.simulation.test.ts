/** BroadcastJobs on a simulated member. */
import { afterEach, describe, expect, test } from "vitest";
import { BroadcastJob } from "./broadcastjob-kind.ts";
import { Node } from "@flotilla/kubernetes";
import { kruiseKinds } from "../openkruise.ts";
import type { Pod } from "@flotilla/kubernetes";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";

let member: KruiseMember;
afterEach(() => member.stop());

interface JobOptions {
  spec?: Partial<BroadcastJob["spec"]>;
  annotations?: Record<string, string>;
  pod?: Partial<Pod["spec"]>;
}

function makeJob({ spec, annotations, pod }: JobOptions): BroadcastJob {
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "BroadcastJob",
    metadata: { name: "job", namespace: NAMESPACE },
    spec: {
      template: {
        metadata: { annotations },
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "tool:1" }], ...pod },
      },
      ...spec,
    },
  };
}

async function start(options: JobOptions, nodes = 3): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, nodes });
  await member.pass(1000);
  await member.client.create(BroadcastJob, MEMBER, makeJob(options));
  await member.pass(20_000);
}

const statusOf = async (): Promise<BroadcastJob["status"]> =>
  (await member.get(BroadcastJob, "job")).status as BroadcastJob["status"];
const reported = (): string[] => [
  ...new Set(
    member.events
      .filter((event) => event.startsWith("BroadcastJob/"))
      .map((event) => event.split(": ")[0]?.split(" ").slice(1).join(" ") ?? ""),
  ),
];

const RUNS_FOR_EVER = { "sim/run": "forever" };

test("runs once on every node, and completes when all pods have ended", async () => {
  await start({});

  expect(new Set(member.pods().map(({ spec }) => spec.nodeName))).toEqual(
    new Set((await member.list(Node)).map(({ metadata }) => metadata.name)),
  );
  expect(await statusOf()).toMatchObject({
    phase: "completed",
    desired: 3,
    succeeded: 3,
    active: 0,
    failed: 0,
    conditions: [{ type: "Complete", message: "Job completed, 3 pods succeeded, 0 pods failed" }],
  });
  expect(reported()).toEqual(["Normal SuccessfulCreate", "Normal JobComplete"]);
});

test("a BroadcastJob labels its pods", async () => {
  await start({});

  const { uid } = (await member.get(BroadcastJob, "job")).metadata;

  expect(member.pods()[0]?.metadata.labels).toMatchObject({
    "broadcastjob-name": "job",
    "broadcastjob-controller-uid": uid,
  });
});

test("runs no more pods at a time than its parallelism", async () => {
  await start({ spec: { parallelism: "34%" }, annotations: RUNS_FOR_EVER });

  expect(member.pods()).toHaveLength(2);
  expect(await statusOf()).toMatchObject({ phase: "running", desired: 3, active: 2 });
});

test("creates pods only on nodes that fit", async () => {
  member = await startKruiseMember({ customs: kruiseKinds, nodes: 3 });
  await member.pass(1000);
  const [node] = await member.list(Node);
  await member.client.update(Node, MEMBER, {
    ...node,
    spec: { ...node?.spec, taints: [{ key: "gpu", effect: "NoSchedule" }] },
  } as Node);
  await member.client.create(
    BroadcastJob,
    MEMBER,
    makeJob({ pod: { containers: [{ name: "main", image: "tool:1", resources: { requests: { cpu: "1" } } }] } }),
  );
  await member.pass(20_000);

  expect(member.pods()).toHaveLength(2);
  expect(member.pods().map(({ spec }) => spec.nodeName)).not.toContain(node?.metadata.name);
});

test("creates pods on nodes that join while it runs", async () => {
  await start({ spec: { completionPolicy: { type: "Never" } } });
  const [node] = await member.list(Node);
  const { resourceVersion: _, uid: __, ...metadata } = node?.metadata ?? { name: "" };

  await member.client.create(Node, MEMBER, { ...node, metadata: { ...metadata, name: "late" } } as Node);
  await member.pass(20_000);

  expect(member.pods()).toHaveLength(4);
  expect(await statusOf()).toMatchObject({ phase: "running", desired: 4 });
});

describe("a failing pod", () => {
  const FAILS = { "sim/exit-code": "1" };

  test("fails the job with FailFast, the default", async () => {
    await start({ spec: { parallelism: 1 }, annotations: FAILS });

    expect(member.pods()).toHaveLength(1);
    expect(await statusOf()).toMatchObject({ phase: "failed", failed: 1, active: 0, conditions: [{ type: "Failed" }] });
    expect(reported()).toContain("Warning failed pod is found");
  });

  test("pauses the job with Pause", async () => {
    await start({ spec: { parallelism: 1, failurePolicy: { type: "Pause" } }, annotations: FAILS });

    expect(member.pods()).toHaveLength(1);
    expect(await statusOf()).toMatchObject({ phase: "paused", failed: 1 });
  });

  test("does not stop the job with Continue", async () => {
    await start({ spec: { parallelism: 1, failurePolicy: { type: "Continue" } }, annotations: FAILS });

    expect(await statusOf()).toMatchObject({ phase: "completed", failed: 3, succeeded: 0 });
  });
});

test("fails at activeDeadlineSeconds, and deletes its pods", async () => {
  await start({
    spec: { completionPolicy: { type: "Always", activeDeadlineSeconds: 60 } },
    annotations: RUNS_FOR_EVER,
  });
  const before = (await statusOf())?.phase;

  await member.pass(120_000);

  expect(before).toBe("running");
  expect(member.pods()).toHaveLength(0);
  expect(await statusOf()).toMatchObject({ phase: "failed", failed: 3, active: 0 });
  expect(reported()).toContain("Warning DeadlineExceeded");
});

test("a BroadcastJob is deleted after ttlSecondsAfterFinished", async () => {
  await start({ spec: { completionPolicy: { type: "Always", ttlSecondsAfterFinished: 60 } } });

  await member.pass(120_000);

  expect(await member.list(BroadcastJob)).toEqual([]);
});

test("waits while it is paused, and continues when it is resumed", async () => {
  await start({ spec: { paused: true } });
  const paused = [member.pods().length, (await statusOf())?.phase];

  await member.change(BroadcastJob, "job", (job) => ({ ...job, spec: { ...job.spec, paused: false } }));
  await member.pass(20_000);

  expect(paused).toEqual([0, "paused"]);
  expect(await statusOf()).toMatchObject({ phase: "completed", succeeded: 3 });
});

test("writes nothing after it has finished", async () => {
  await start({});
  const before = member.writes.total();

  await member.pass(600_000);

  expect(member.writes.total() - before).toBe(0);
});
