/** CronJobs on a member where the test ends the Jobs. */
import { describe, expect, test } from "vitest";
import { CronJob } from "./cronjob-kind.ts";
import { Job } from "../job/job-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createJobController } from "../job/job-controller.ts";
import { createCronJobController } from "./cronjob-controller.ts";

async function startMember(): Promise<TestMember> {
  const member = await startTestMember({
    nodes: 0,
    controllers(deps) {
      indexByController(deps.informers);
      return [createCronJobController(deps), createJobController(deps)];
    },
  });
  return endsWithTest(member);
}

function makeCronJob(spec: Partial<CronJob["spec"]> = {}): CronJob {
  const jobTemplate = {
    metadata: { labels: { app: "report" } },
    spec: {
      template: { spec: { containers: [{ name: "main", image: "report:1" }], restartPolicy: "Never" as const } },
    },
  };
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "report", namespace: NAMESPACE },
    spec: { schedule: "*/10 * * * *", jobTemplate, ...spec },
  };
}

/** 12:10 in minutes since the epoch, the first run of a CronJob created at 12:00. */
const FIRST = Date.UTC(2024, 4, 1, 12, 10) / 60_000;
const MINUTE_MS = 60_000;
const names = async (member: TestMember): Promise<string[]> =>
  (await member.list(Job)).map(({ metadata }) => metadata.name).toSorted();
const statusOf = async (member: TestMember): Promise<DeepReadonly<CronJob["status"]>> =>
  (await member.get(CronJob, "report")).status;

async function finishAll(member: TestMember, exitCode = 0): Promise<void> {
  for (const pod of member.pods().filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed"))
    await member.finish(pod, exitCode);
  await member.pass(1_000);
}

describe("A CronJob", () => {
  test("starts a Job named after its scheduled minute", async () => {
    const member = await startMember();
    await member.client.create(CronJob, MEMBER, makeCronJob());

    await member.pass(9 * MINUTE_MS);
    const before = await names(member);
    await member.pass(2 * MINUTE_MS);

    expect(before).toEqual([]);
    const [job] = await member.list(Job);
    expect(job?.metadata).toMatchObject({
      name: `report-${FIRST}`,
      labels: { app: "report" },
      annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2024-05-01T12:10:00Z" },
    });
    expect(await statusOf(member)).toMatchObject({
      active: [{ kind: "Job", name: `report-${FIRST}`, apiVersion: "batch/v1" }],
      lastScheduleTime: "2024-05-01T12:10:00Z",
    });
    expect(member.events).toContain(`CronJob/report Normal SuccessfulCreate: Created job report-${FIRST}`);
  });

  test("reports when its Job has completed, and keeps the last ones", async () => {
    const member = await startMember();
    await member.client.create(CronJob, MEMBER, makeCronJob({ successfulJobsHistoryLimit: 2 }));

    for (let run = 0; run < 4; run++) {
      await member.pass(10 * MINUTE_MS);
      await finishAll(member);
    }
    await member.pass(1_000);

    expect(await names(member)).toEqual([`report-${FIRST + 20}`, `report-${FIRST + 30}`]);
    expect(await statusOf(member)).toMatchObject({ lastSuccessfulTime: "2024-05-01T12:40:03Z" });
    expect((await statusOf(member))?.active).toBeUndefined();
    expect(member.events).toContain(
      `CronJob/report Normal SawCompletedJob: Saw completed job: report-${FIRST}, condition: Complete`,
    );
    expect(member.events).toContain(`CronJob/report Normal SuccessfulDelete: Deleted job report-${FIRST}`);
  });

  test("A CronJob with Forbid waits for a running Job", async () => {
    const member = await startMember();
    await member.client.create(CronJob, MEMBER, makeCronJob({ concurrencyPolicy: "Forbid" }));

    await member.pass(25 * MINUTE_MS);
    const during = await names(member);
    await finishAll(member);

    expect(during).toEqual([`report-${FIRST}`]);
    expect(member.events).toContain(
      "CronJob/report Normal JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid",
    );
    expect(await names(member)).toEqual([`report-${FIRST}`, `report-${FIRST + 10}`]);
  });

  test("A CronJob with Replace deletes a running Job", async () => {
    const member = await startMember();
    await member.client.create(CronJob, MEMBER, makeCronJob({ concurrencyPolicy: "Replace" }));

    await member.pass(21 * MINUTE_MS);

    expect(await names(member)).toEqual([`report-${FIRST + 10}`]);
    expect((await statusOf(member))?.active?.map(({ name }) => name)).toEqual([`report-${FIRST + 10}`]);
  });

  test("starts only the latest missed run after a long suspension", async () => {
    const member = await startMember();
    await member.client.create(CronJob, MEMBER, makeCronJob({ suspend: true, schedule: "* * * * *" }));
    await member.pass(200 * MINUTE_MS);
    const whileSuspended = await names(member);

    await member.change(CronJob, "report", (cronJob) => ({ ...cronJob, spec: { ...cronJob.spec, suspend: false } }));
    await member.pass(1_000);

    expect(whileSuspended).toEqual([]);
    expect(await names(member)).toEqual([`report-${FIRST + 190}`]);
    expect(member.events).toContain(
      "CronJob/report Warning TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
    );
  });

  test("does not start a run past its starting deadline", async () => {
    const member = await startMember();
    await member.client.create(CronJob, MEMBER, makeCronJob({ suspend: true, startingDeadlineSeconds: 60 }));
    await member.pass(15 * MINUTE_MS);

    await member.change(CronJob, "report", (cronJob) => ({ ...cronJob, spec: { ...cronJob.spec, suspend: false } }));
    await member.pass(1_000);

    expect(await names(member)).toEqual([]);
  });

  test("follows its time zone", async () => {
    const member = await startMember();

    await member.client.create(CronJob, MEMBER, makeCronJob({ schedule: "30 14 * * *", timeZone: "Europe/Berlin" }));
    await member.pass(31 * MINUTE_MS);

    const [job] = await member.list(Job);
    expect(job?.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"]).toBe(
      "2024-05-01T14:30:00+02:00",
    );
  });

  test("writes nothing between its runs", async () => {
    const member = await startMember();
    await member.client.create(CronJob, MEMBER, makeCronJob());
    await member.pass(10 * MINUTE_MS + 1_000);
    await finishAll(member);
    member.writes.reset();

    await member.pass(9 * MINUTE_MS);

    expect(member.writes.counts()).toEqual([]);
  });
});
