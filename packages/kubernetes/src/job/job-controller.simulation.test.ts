/** Jobs on a member where the test acts as the kubelet and ends the pods. */
import { describe, expect, test } from "vitest";
import { Job } from "./job-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createJobController } from "./job-controller.ts";
import { createJobOrphanController } from "./job-orphans-controller.ts";

async function startMember(): Promise<TestMember> {
  const member = await startTestMember({
    nodes: 0,
    controllers(deps) {
      indexByController(deps.informers);
      return [createJobController(deps), createJobOrphanController(deps)];
    },
  });
  return endsWithTest(member);
}

type JobSpec = NonNullable<Job["spec"]>;

function makeJob(spec: Partial<JobSpec> = {}, restartPolicy: "Never" | "OnFailure" = "Never"): Job {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "pi", namespace: NAMESPACE },
    spec: { template: { spec: { containers: [{ name: "main", image: "pi:1" }], restartPolicy } }, ...spec },
  };
}

const indexOf = ({ metadata }: DeepReadonly<Pod>): string =>
  metadata.annotations?.["batch.kubernetes.io/job-completion-index"] ?? "";
const running = (member: TestMember): DeepReadonly<Pod>[] =>
  member
    .pods()
    .filter(
      ({ status, metadata }) =>
        !metadata.deletionTimestamp && status?.phase !== "Succeeded" && status?.phase !== "Failed",
    );
const statusOf = async (member: TestMember) => (await member.get(Job, "pi")).status;
const conditionsOf = async (member: TestMember): Promise<string[]> =>
  ((await statusOf(member))?.conditions ?? []).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );

async function finishAll(member: TestMember, exitCode: number): Promise<void> {
  for (const pod of running(member)) await member.finish(pod, exitCode);
  await member.pass(1_000);
}

describe("A Job", () => {
  test("runs at most parallelism pods at once until enough have succeeded", async () => {
    const member = await startMember();
    await member.client.create(Job, MEMBER, makeJob({ completions: 5, parallelism: 2 }));
    await member.pass(1_000);
    const atOnce: number[] = [running(member).length];

    for (let round = 0; round < 3; round++) {
      await finishAll(member, 0);
      atOnce.push(running(member).length);
    }

    expect(atOnce).toEqual([2, 2, 1, 0]);
    expect(await statusOf(member)).toMatchObject({
      succeeded: 5,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      completionTime: "2024-05-01T12:00:03Z",
      startTime: "2024-05-01T12:00:00Z",
    });
    expect(await conditionsOf(member)).toEqual([
      "SuccessCriteriaMet=True CompletionsReached: Reached expected number of succeeded pods",
      "Complete=True CompletionsReached: Reached expected number of succeeded pods",
    ]);
    expect(member.pods().map(({ metadata }) => metadata.finalizers)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(member.events.at(-1)).toBe("Job/pi Normal Completed: Job completed");
  });

  test("A Job without completions is complete when one pod has succeeded and the others have ended", async () => {
    const member = await startMember();
    await member.client.create(Job, MEMBER, makeJob({ parallelism: 3 }));
    await member.pass(1_000);
    const [first, second, third] = running(member);
    if (!first || !second || !third) throw new Error("three pods run");

    await member.finish(first, 0);
    await member.pass(1_000);
    const afterFirst = running(member).length;
    await member.finish(second, 1);
    await member.finish(third, 0);
    await member.pass(1_000);

    expect(afterFirst).toBe(2);
    expect(await statusOf(member)).toMatchObject({ succeeded: 2, failed: 1 });
    expect((await conditionsOf(member)).at(-1)).toMatch(/^Complete=True/);
  });

  test("backs off after every failure and fails at its backoffLimit", async () => {
    const member = await startMember();
    await member.client.create(Job, MEMBER, makeJob({ backoffLimit: 2 }));
    await member.pass(1_000);

    await finishAll(member, 1);
    const soon = running(member).length;
    await member.pass(10_000);
    const afterTen = running(member).length;
    await finishAll(member, 1);
    await member.pass(10_000);
    const stillWaiting = running(member).length;
    await member.pass(10_000);
    const afterTwenty = running(member).length;
    await finishAll(member, 1);

    expect([soon, afterTen, stillWaiting, afterTwenty]).toEqual([0, 1, 0, 1]);
    expect(await statusOf(member)).toMatchObject({ failed: 3 });
    expect(await conditionsOf(member)).toEqual([
      "FailureTarget=True BackoffLimitExceeded: Job has reached the specified backoff limit",
      "Failed=True BackoffLimitExceeded: Job has reached the specified backoff limit",
    ]);
    expect(member.events).toContain("Job/pi Warning BackoffLimitExceeded: Job has reached the specified backoff limit");
  });

  test("is Failed only when the last of its pods has ended", async () => {
    const member = await startMember();
    await member.client.create(Job, MEMBER, makeJob({ completions: 2, parallelism: 2, backoffLimit: 0 }));
    await member.pass(1_000);
    const [first, second] = running(member);
    if (!first || !second) throw new Error("two pods run");
    await bind(member, second);

    await member.finish(first, 1);
    await member.pass(1_000);
    const during = await conditionsOf(member);
    const terminating = (await statusOf(member))?.terminating;
    await member.client.delete(
      Pod,
      { cluster: MEMBER, namespace: NAMESPACE, name: second.metadata.name },
      { gracePeriodSeconds: 0 },
    );
    await member.pass(1_000);

    expect(during).toEqual(["FailureTarget=True BackoffLimitExceeded: Job has reached the specified backoff limit"]);
    expect(terminating).toBe(1);
    expect((await conditionsOf(member)).at(-1)).toMatch(/^Failed=True/);
    expect(await statusOf(member)).toMatchObject({ failed: 2, terminating: 0 });
  });

  test("fails after activeDeadlineSeconds", async () => {
    const member = await startMember();
    await member.client.create(Job, MEMBER, makeJob({ activeDeadlineSeconds: 30 }));

    await member.pass(29_000);
    const before = await conditionsOf(member);
    await member.pass(2_000);

    expect(before).toEqual([]);
    expect(await conditionsOf(member)).toEqual([
      "FailureTarget=True DeadlineExceeded: Job was active longer than specified deadline",
      "Failed=True DeadlineExceeded: Job was active longer than specified deadline",
    ]);
    expect(running(member)).toEqual([]);
  });

  test("deletes its pods while it is suspended and starts again when it is resumed", async () => {
    const member = await startMember();
    await member.client.create(Job, MEMBER, makeJob({ parallelism: 2, completions: 2 }));
    await member.pass(1_000);

    await member.change(Job, "pi", (job) => ({
      ...job,
      spec: { ...job.spec, suspend: true } as DeepReadonly<JobSpec>,
    }));
    await member.pass(1_000);
    const suspended = [await statusOf(member), await conditionsOf(member), member.pods().length];
    await member.change(Job, "pi", (job) => ({
      ...job,
      spec: { ...job.spec, suspend: false } as DeepReadonly<JobSpec>,
    }));
    await member.pass(1_000);

    expect(suspended).toMatchObject([{ ready: 0, terminating: 0 }, ["Suspended=True JobSuspended: Job suspended"], 0]);
    expect(suspended[0]).not.toHaveProperty("startTime");
    expect(await conditionsOf(member)).toEqual(["Suspended=False JobResumed: Job resumed"]);
    expect((await statusOf(member))?.startTime).toBe("2024-05-01T12:00:02Z");
    expect(running(member)).toHaveLength(2);
    expect(member.events.filter((event) => event.includes("Job suspended") || event.includes("Job resumed"))).toEqual([
      "Job/pi Normal Suspended: Job suspended",
      "Job/pi Normal Resumed: Job resumed",
    ]);
  });

  test("A Job with another managedBy is ignored", async () => {
    const member = await startMember();

    await member.client.create(Job, MEMBER, makeJob({ managedBy: "example.com/queue" }));
    await member.pass(1_000);

    expect(member.pods()).toEqual([]);
    expect(member.writes.counts()).toEqual([]);
  });

  test("A Job that is deleted removes the finalizers of its pods", async () => {
    const member = await startMember();
    await member.client.create(Job, MEMBER, makeJob());
    await member.pass(1_000);

    await member.client.delete(
      Job,
      { cluster: MEMBER, namespace: NAMESPACE, name: "pi" },
      { propagationPolicy: "Background" },
    );
    await member.pass(5_000);

    expect(member.pods()).toEqual([]);
  });

  test("writes nothing while its pods run", async () => {
    const member = await startMember();
    await member.client.create(Job, MEMBER, makeJob({ parallelism: 3, completions: 3, activeDeadlineSeconds: 3_600 }));
    await member.pass(10_000);
    member.writes.reset();

    await member.pass(300_000);

    expect(member.writes.counts()).toEqual([]);
  });
});

describe("An indexed Job", () => {
  test("assigns an index to every pod, and counts indexes", async () => {
    const member = await startMember();
    await member.client.create(Job, MEMBER, makeJob({ completions: 4, parallelism: 3, completionMode: "Indexed" }));
    await member.pass(1_000);
    const first = running(member);
    const [pod] = first;

    await finishAll(member, 0);

    expect(first.map(indexOf)).toEqual(["0", "1", "2"]);
    expect(pod?.metadata.name).toMatch(/^pi-0-[a-z0-9]{5}$/);
    expect(pod?.metadata.labels?.["batch.kubernetes.io/job-completion-index"]).toBe("0");
    expect(pod?.spec.hostname).toBe("pi-0");
    expect(pod?.spec.containers[0]?.env).toEqual([
      {
        name: "JOB_COMPLETION_INDEX",
        valueFrom: {
          fieldRef: { apiVersion: "v1", fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" },
        },
      },
    ]);
    expect(running(member).map(indexOf)).toEqual(["3"]);
    expect(await statusOf(member)).toMatchObject({ completedIndexes: "0-2", succeeded: 3, active: 1 });
  });

  test("retries every index up to its limit, and reports the failed ones", async () => {
    const member = await startMember();
    await member.client.create(
      Job,
      MEMBER,
      makeJob({ completions: 2, parallelism: 2, completionMode: "Indexed", backoffLimitPerIndex: 1 }),
    );
    await member.pass(1_000);

    const [zero, one] = running(member);
    if (!zero || !one) throw new Error("two pods run");
    await member.finish(zero, 0);
    await member.finish(one, 1);
    await member.pass(15_000);
    const again = running(member);
    await finishAll(member, 1);

    expect(again.map(({ metadata }) => metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"])).toEqual([
      "1",
    ]);
    expect(await statusOf(member)).toMatchObject({
      completedIndexes: "0",
      failedIndexes: "1",
      succeeded: 1,
      failed: 2,
    });
    expect((await conditionsOf(member)).at(-1)).toBe("Failed=True FailedIndexes: Job has failed indexes");
  });

  test("succeeds early when its success policy is met", async () => {
    const member = await startMember();
    await member.client.create(
      Job,
      MEMBER,
      makeJob({
        completions: 5,
        parallelism: 5,
        completionMode: "Indexed",
        successPolicy: { rules: [{ succeededIndexes: "0,3-4", succeededCount: 2 }] },
      }),
    );
    await member.pass(1_000);

    for (const pod of running(member).filter((each) => ["0", "4"].includes(indexOf(each)))) await member.finish(pod, 0);
    await member.pass(1_000);

    expect(await conditionsOf(member)).toEqual([
      "SuccessCriteriaMet=True SuccessPolicy: Matched rules at index 0",
      "Complete=True SuccessPolicy: Matched rules at index 0",
    ]);
    expect(await statusOf(member)).toMatchObject({ completedIndexes: "0,4", succeeded: 2 });
    expect(running(member)).toEqual([]);
  });
});

describe("A deleted pod", () => {
  const replaced: Record<string, { policy: "TerminatingOrFailed" | "Failed"; want: number }> = {
    "is replaced at once by default": { policy: "TerminatingOrFailed", want: 1 },
    "is replaced after it has ended with podReplacementPolicy Failed": { policy: "Failed", want: 0 },
  };
  for (const [behaviour, { policy, want }] of Object.entries(replaced)) {
    test(behaviour, async () => {
      const member = await startMember();
      await member.client.create(Job, MEMBER, makeJob({ podReplacementPolicy: policy }));
      await member.pass(1_000);
      const [pod] = running(member);
      if (!pod) throw new Error("one pod runs");
      await bind(member, pod);

      await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: pod.metadata.name });
      await member.pass(15_000);
      const during = [running(member).length, (await statusOf(member))?.terminating];
      const left = await member.get(Pod, pod.metadata.name);
      await member.finish(left, 143);
      await member.pass(15_000);

      expect(during).toEqual([want, 1]);
      expect(running(member)).toHaveLength(1);
      expect(await statusOf(member)).toMatchObject({ failed: 1, active: 1 });
    });
  }
});

describe("A pod failure policy", () => {
  test("fails the Job at a matching exit code", async () => {
    const member = await startMember();
    const rules = [{ action: "FailJob" as const, onExitCodes: { operator: "In" as const, values: [42] } }];
    await member.client.create(Job, MEMBER, makeJob({ podFailurePolicy: { rules } }));
    await member.pass(1_000);
    const name = member.pods()[0]?.metadata.name;

    await finishAll(member, 42);

    const message = `Container main for pod shop/${name} failed with exit code 42 matching FailJob rule at index 0`;
    expect(await conditionsOf(member)).toEqual([
      `FailureTarget=True PodFailurePolicy: ${message}`,
      `Failed=True PodFailurePolicy: ${message}`,
    ]);
  });

  test("does not count ignored failures", async () => {
    const member = await startMember();
    const rules = [{ action: "Ignore" as const, onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }];
    await member.client.create(Job, MEMBER, makeJob({ backoffLimit: 0, podFailurePolicy: { rules } }));
    await member.pass(1_000);
    const [pod] = running(member);
    if (!pod) throw new Error("one pod runs");

    await member.finish(
      { ...pod, status: { ...pod.status, conditions: [{ type: "DisruptionTarget", status: "True" }] } },
      1,
    );
    await member.pass(15_000);

    expect(await conditionsOf(member)).toEqual([]);
    expect((await statusOf(member))?.failed).toBeUndefined();
    expect(running(member)).toHaveLength(1);
  });
});

/** Bound pods are deleted gracefully: a kubelet has to stop them first. */
async function bind(member: TestMember, pod: DeepReadonly<Pod>): Promise<void> {
  await member.client.update(Pod, MEMBER, { ...pod, spec: { ...pod.spec, nodeName: "node-000" } });
}
