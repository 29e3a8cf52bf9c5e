import { describe, expect, test } from "vitest";
import { planCronRuns, planCronStatus } from "./plan-cron-runs.ts";
import type { CronRule, ReadonlyCron } from "./plan-cron-runs.ts";

type History = NonNullable<NonNullable<ReadonlyCron["status"]>["executionHistories"]>[number];

const cron = (rules: Partial<CronRule>[], executionHistories?: History[]): ReadonlyCron => ({
  apiVersion: "autoscaling.karmada.io/v1alpha1",
  kind: "CronFederatedHPA",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    rules: rules.map((rule, index) => ({ name: `rule${index}`, schedule: "0 8 * * *", ...rule })),
  },
  status: { executionHistories },
});
const timeOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

describe("a rule of a CronFederatedHPA", () => {
  const cases: Record<
    string,
    { rule?: Partial<CronRule>; expected?: string; now: string; want: { due?: string; missed?: string; next?: string } }
  > = {
    "waits for its first time": {
      now: "2026-05-01T07:00:00Z",
      want: { next: "2026-05-01T08:00:00.000Z" },
    },
    "that is new does not run for a time that has passed": {
      now: "2026-05-01T08:00:01Z",
      want: { next: "2026-05-02T08:00:00.000Z" },
    },
    "is due at its time": {
      expected: "2026-05-01T08:00:00Z",
      now: "2026-05-01T08:00:00Z",
      want: { due: "2026-05-01T08:00:00.000Z", next: "2026-05-02T08:00:00.000Z" },
    },
    "is not due a millisecond earlier": {
      expected: "2026-05-01T08:00:00Z",
      now: "2026-05-01T07:59:59.999Z",
      want: { next: "2026-05-01T08:00:00.000Z" },
    },
    "runs five minutes late after a restart": {
      expected: "2026-05-01T08:00:00Z",
      now: "2026-05-01T08:05:00Z",
      want: { due: "2026-05-01T08:00:00.000Z", next: "2026-05-02T08:00:00.000Z" },
    },
    "is missed when no controller ran for longer": {
      expected: "2026-05-01T08:00:00Z",
      now: "2026-05-01T08:05:01Z",
      want: { missed: "2026-05-01T08:00:00.000Z", next: "2026-05-02T08:00:00.000Z" },
    },
    "runs once for many missed times, for the latest": {
      rule: { schedule: "* * * * *" },
      expected: "2026-04-01T08:00:00Z",
      now: "2026-05-01T08:00:30Z",
      want: { due: "2026-05-01T08:00:00.000Z", next: "2026-05-01T08:01:00.000Z" },
    },
    "that was changed does not run for the time of its old schedule": {
      rule: { schedule: "30 9 * * *" },
      expected: "2026-05-01T08:00:00Z",
      now: "2026-05-01T08:00:10Z",
      want: { next: "2026-05-01T09:30:00.000Z" },
    },
    "waits again when the clock jumps back before its time": {
      expected: "2026-05-02T08:00:00Z",
      now: "2026-05-01T07:30:00Z",
      want: { next: "2026-05-01T08:00:00.000Z" },
    },
    "with an expected time that cannot be parsed waits for the next one": {
      expected: "soon",
      now: "2026-05-01T08:00:10Z",
      want: { next: "2026-05-02T08:00:00.000Z" },
    },
    "that is suspended has no next time": {
      rule: { suspend: true },
      expected: "2026-05-01T08:00:00Z",
      now: "2026-05-01T08:00:10Z",
      want: {},
    },
    "with a schedule that cannot be parsed never runs": {
      rule: { schedule: "every morning" },
      expected: "2026-05-01T08:00:00Z",
      now: "2026-05-01T08:00:10Z",
      want: {},
    },
    "with a date that does not exist never runs": {
      rule: { schedule: "0 8 30 2 *" },
      now: "2026-05-01T08:00:10Z",
      want: {},
    },
    "runs by the clock of its time zone": {
      rule: { timeZone: "Europe/Oslo" },
      expected: "2026-05-01T06:00:00Z",
      now: "2026-05-01T06:00:00Z",
      want: { due: "2026-05-01T06:00:00.000Z", next: "2026-05-02T06:00:00.000Z" },
    },
    "is due an hour earlier after the change to summer time": {
      rule: { timeZone: "Europe/Oslo" },
      expected: "2026-03-28T07:00:00Z",
      now: "2026-03-28T07:00:00Z",
      want: { due: "2026-03-28T07:00:00.000Z", next: "2026-03-29T06:00:00.000Z" },
    },
    "is due an hour later after the change to winter time": {
      rule: { timeZone: "Europe/Oslo" },
      expected: "2026-10-24T06:00:00Z",
      now: "2026-10-24T06:00:00Z",
      want: { due: "2026-10-24T06:00:00.000Z", next: "2026-10-25T07:00:00.000Z" },
    },
    "whose time is skipped by summer time runs on the next day": {
      rule: { schedule: "30 2 * * *", timeZone: "Europe/Oslo" },
      expected: "2026-03-28T01:30:00Z",
      now: "2026-03-28T01:30:00Z",
      want: { due: "2026-03-28T01:30:00.000Z", next: "2026-03-30T00:30:00.000Z" },
    },
    "that missed runs over the change to winter time runs for the latest": {
      rule: { timeZone: "Europe/Oslo" },
      expected: "2026-10-23T06:00:00Z",
      now: "2026-10-25T07:04:00Z",
      want: { due: "2026-10-25T07:00:00.000Z", next: "2026-10-26T07:00:00.000Z" },
    },
  };
  for (const [behaviour, { rule = {}, expected, now, want }] of Object.entries(cases))
    test(behaviour, () => {
      const histories = expected === undefined ? undefined : [{ ruleName: "rule0", nextExecutionTime: expected }];

      const [plan] = planCronRuns(cron([rule], histories), Date.parse(now));

      expect({ due: timeOf(plan?.dueMs), missed: timeOf(plan?.missedMs), next: timeOf(plan?.nextMs) }).toEqual(want);
    });
});

test("rules that are due run in the order of their times", () => {
  const plans = planCronRuns(
    cron(
      [{ name: "late", schedule: "2 8 * * *" }, { name: "early", schedule: "1 8 * * *" }, { name: "idle" }],
      [
        { ruleName: "late", nextExecutionTime: "2026-05-01T08:02:00Z" },
        { ruleName: "early", nextExecutionTime: "2026-05-01T08:01:00Z" },
      ],
    ),
    Date.parse("2026-05-01T08:03:00Z"),
  );

  expect(plans.filter(({ dueMs }) => dueMs !== undefined).map(({ rule }) => rule.name)).toEqual(["early", "late"]);
});

describe("the history of a rule", () => {
  const NOW_MS = Date.parse("2026-05-01T08:00:10Z");
  const scheduleTime = "2026-05-01T08:00:00Z";
  const executionTime = "2026-05-01T08:00:10Z";
  const old = (day: number) => ({
    scheduleTime: `2026-04-0${day}T08:00:00Z`,
    executionTime: `2026-04-0${day}T08:00:01Z`,
    appliedReplicas: day,
  });
  const cases: Record<
    string,
    {
      rule?: Partial<CronRule>;
      before?: Partial<History>;
      outcome: { dueMs?: number; missedMs?: number; nextMs?: number; problem?: string } | undefined;
      want: History;
    }
  > = {
    "has the sizes that were set": {
      rule: { targetReplicas: 5 },
      outcome: { dueMs: Date.parse(scheduleTime), nextMs: Date.parse("2026-05-02T08:00:00Z") },
      want: {
        ruleName: "rule0",
        nextExecutionTime: "2026-05-02T08:00:00Z",
        successfulExecutions: [{ scheduleTime, executionTime, appliedReplicas: 5 }],
      },
    },
    "has a target of zero replicas": {
      rule: { targetReplicas: 0 },
      outcome: { dueMs: Date.parse(scheduleTime) },
      want: { ruleName: "rule0", successfulExecutions: [{ scheduleTime, executionTime, appliedReplicas: 0 }] },
    },
    "has why a run failed": {
      outcome: { dueMs: Date.parse(scheduleTime), problem: "deployments web not found" },
      want: {
        ruleName: "rule0",
        failedExecutions: [{ scheduleTime, executionTime, message: "deployments web not found" }],
      },
    },
    "has a missed run as a failed one": {
      outcome: { missedMs: Date.parse(scheduleTime) },
      want: {
        ruleName: "rule0",
        failedExecutions: [
          {
            scheduleTime,
            executionTime,
            message: "not carried out: it was due more than 5 minutes before a controller ran",
          },
        ],
      },
    },
    "keeps three successful runs, the newest first": {
      rule: { targetReplicas: 5 },
      before: { successfulExecutions: [old(3), old(2), old(1)] },
      outcome: { dueMs: Date.parse(scheduleTime) },
      want: {
        ruleName: "rule0",
        successfulExecutions: [{ scheduleTime, executionTime, appliedReplicas: 5 }, old(3), old(2)],
      },
    },
    "keeps as many runs as the rule says": {
      rule: { targetReplicas: 5, successfulHistoryLimit: 1 },
      before: { successfulExecutions: [old(3), old(2)] },
      outcome: { dueMs: Date.parse(scheduleTime) },
      want: { ruleName: "rule0", successfulExecutions: [{ scheduleTime, executionTime, appliedReplicas: 5 }] },
    },
    "is empty with a limit of zero": {
      rule: { successfulHistoryLimit: 0 },
      before: { successfulExecutions: [old(3)] },
      outcome: { dueMs: Date.parse(scheduleTime) },
      want: { ruleName: "rule0" },
    },
    "stays while the rule is suspended": {
      rule: { suspend: true },
      before: { nextExecutionTime: "2026-05-01T09:00:00Z", successfulExecutions: [old(3)] },
      outcome: {},
      want: { ruleName: "rule0", successfulExecutions: [old(3)] },
    },
    "is dropped with its rule": {
      before: { ruleName: "removed", successfulExecutions: [old(3)] },
      outcome: {},
      want: { ruleName: "rule0" },
    },
  };
  for (const [behaviour, { rule = {}, before, outcome, want }] of Object.entries(cases))
    test(behaviour, () => {
      const object = cron([rule], before && [{ ruleName: "rule0", ...before }]);
      const [written] = object.spec.rules;
      if (!written) throw new Error("the object has one rule");
      const { problem, ...times } = outcome ?? {};

      const status = planCronStatus(object, [{ plan: { rule: written, ...times }, problem }], NOW_MS);

      expect(status.executionHistories).toEqual([want]);
    });
});
