import { describe, expect, test } from "vitest";
import type { AdvancedCronJob } from "./advancedcronjob-kind.ts";
import { planAdvancedCronJob } from "./plan-advancedcronjob.ts";
import type { AdvancedCronJobPlan, ReadonlyAdvancedCronJob } from "./plan-advancedcronjob.ts";
import type { ReadonlyRun } from "./run-kinds.ts";

const NOW = "2024-05-01T12:20:30Z";

function makeCronJob(
  spec: Partial<AdvancedCronJob["spec"]> = {},
  rest: Partial<AdvancedCronJob> = {},
): ReadonlyAdvancedCronJob {
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "AdvancedCronJob",
    metadata: { name: "report", namespace: "shop", uid: "u", creationTimestamp: "2024-05-01T12:00:00Z" },
    spec: { schedule: "*/10 * * * *", template: { jobTemplate: { metadata: { labels: { a: "b" } } } }, ...spec },
    ...rest,
  };
}

interface RunOptions {
  end?: "Complete" | "Failed";
  scheduledAt?: string;
  startTime?: string;
}

const makeRun = (name: string, { end, scheduledAt, startTime }: RunOptions = {}): ReadonlyRun => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: {
    name,
    namespace: "shop",
    uid: name,
    resourceVersion: "7",
    annotations: scheduledAt === undefined ? {} : { "apps.kruise.io/scheduled-at": scheduledAt },
  },
  status: { startTime, conditions: end ? [{ type: end, status: "True" }] : [] },
});

const plan = (cronJob: ReadonlyAdvancedCronJob, ...runs: ReadonlyRun[]): AdvancedCronJobPlan =>
  planAdvancedCronJob(cronJob, runs, Date.parse(NOW));
const namesOf = (runs: readonly ReadonlyRun[]): string[] => runs.map(({ metadata }) => metadata.name);

describe("status", () => {
  test("lists the active runs and the latest scheduled time", () => {
    const { status } = plan(
      makeCronJob(),
      makeRun("first", { end: "Complete", scheduledAt: "2024-05-01T12:10:00Z" }),
      makeRun("second", { scheduledAt: "2024-05-01T12:20:00Z" }),
    );

    expect(status).toEqual({
      type: "Job",
      active: [
        { apiVersion: "batch/v1", kind: "Job", namespace: "shop", name: "second", uid: "second", resourceVersion: "7" },
      ],
      lastScheduleTime: "2024-05-01T12:20:00Z",
    });
  });

  test("keeps the reference to a run that has changed since", () => {
    const active = [{ kind: "Job", name: "first", uid: "first", resourceVersion: "1" }];

    const { status } = plan(makeCronJob({}, { status: { active } }), makeRun("first"));

    expect(status.active).toEqual(active);
  });

  test("keeps the scheduled time of a run that was deleted", () => {
    const cronJob = makeCronJob({}, { status: { lastScheduleTime: "2024-05-01T12:20:00Z" } });

    const { status, start } = plan(cronJob, makeRun("first", { scheduledAt: "2024-05-01T12:10:00Z" }));

    expect(status.lastScheduleTime).toBe("2024-05-01T12:20:00Z");
    expect(start).toBeUndefined();
  });

  test("ignores a scheduled time that cannot be read", () => {
    const { status } = plan(makeCronJob(), makeRun("first", { scheduledAt: "yesterday" }));

    expect(status.lastScheduleTime).toBeUndefined();
  });

  test("has the type BroadcastJob for a BroadcastJob", () => {
    const { status, start } = plan(makeCronJob({ template: { broadcastJobTemplate: {} } }));

    expect(status.type).toBe("BroadcastJob");
    expect(start?.kind).toBe("BroadcastJob");
  });
});

describe("a due run", () => {
  test("has a name and an annotation with its scheduled time", () => {
    const { start, requeueAfterMs } = plan(makeCronJob());

    expect(start?.metadata).toMatchObject({
      name: "report-1714566000",
      labels: { a: "b" },
      annotations: { "apps.kruise.io/scheduled-at": "2024-05-01T12:20:00Z" },
    });
    expect(requeueAfterMs).toBe(9.5 * 60_000);
  });

  const policies: Record<string, { policy: "Allow" | "Forbid" | "Replace"; starts: boolean; replaces: string[] }> = {
    "is started beside an active one with Allow": { policy: "Allow", starts: true, replaces: [] },
    "waits for an active one with Forbid": { policy: "Forbid", starts: false, replaces: [] },
    "replaces an active one with Replace": { policy: "Replace", starts: true, replaces: ["first"] },
  };
  for (const [behaviour, { policy, starts, replaces }] of Object.entries(policies)) {
    test(behaviour, () => {
      const { start, replace, requeueAfterMs } = plan(makeCronJob({ concurrencyPolicy: policy }), makeRun("first"));

      expect({ starts: start !== undefined, replaces: namesOf(replace) }).toEqual({ starts, replaces });
      expect(requeueAfterMs).toBe(9.5 * 60_000);
    });
  }

  const idle: Record<string, ReadonlyAdvancedCronJob> = {
    "is not started while the AdvancedCronJob is paused": makeCronJob({ paused: true }),
    "is not started by an AdvancedCronJob that is being deleted": makeCronJob(
      {},
      { metadata: { name: "report", creationTimestamp: "2024-05-01T12:00:00Z", deletionTimestamp: NOW } },
    ),
  };
  for (const [behaviour, cronJob] of Object.entries(idle)) {
    test(behaviour, () => {
      const { start, requeueAfterMs } = plan(cronJob);

      expect({ start, requeueAfterMs }).toEqual({});
    });
  }
});

describe("history", () => {
  const failed = (name: string, startTime?: string): ReadonlyRun => makeRun(name, { end: "Failed", startTime });
  const complete = (name: string, startTime?: string): ReadonlyRun => makeRun(name, { end: "Complete", startTime });

  test("deletes the runs beyond each limit that started first", () => {
    const { remove } = plan(
      makeCronJob({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }),
      complete("late", "2024-05-01T12:02:00Z"),
      complete("early", "2024-05-01T12:01:00Z"),
      failed("failed", "2024-05-01T12:03:00Z"),
      makeRun("active"),
    );

    expect(namesOf(remove)).toEqual(["failed", "early"]);
  });

  test("deletes a run that never started before others", () => {
    const { remove } = plan(
      makeCronJob({ successfulJobsHistoryLimit: 1 }),
      complete("started", "2024-05-01T12:01:00Z"),
      complete("unstarted"),
    );

    expect(namesOf(remove)).toEqual(["unstarted"]);
  });

  test("keeps everything without a limit", () => {
    expect(plan(makeCronJob(), complete("a"), complete("b"), failed("c"), failed("d")).remove).toEqual([]);
  });
});
