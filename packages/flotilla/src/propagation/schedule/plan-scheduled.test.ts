import { expect, test } from "vitest";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import type { SchedulePlan } from "./plan-schedule.ts";
import { planScheduled } from "./plan-scheduled.ts";

const NOW = "2024-05-01T12:00:00Z";
const LATER = "2024-05-01T13:00:00Z";
const binding = makeBinding(makeDeployment("shop/web").build()).build();
const scheduled: SchedulePlan = {
  outcome: "scheduled",
  clusters: [{ name: "paris", replicas: 1 }],
  verdicts: [],
  failedTerms: [],
};
const failed: SchedulePlan = {
  outcome: "unschedulable",
  reason: "NoClusterFit",
  message: "0/3 clusters are available",
  verdicts: [],
  failedTerms: [],
};

test("a scheduled binding records time, generation and success", () => {
  const next = planScheduled(binding, scheduled, 2, NOW);

  expect(next.status).toEqual({
    schedulerObservedGeneration: 2,
    lastScheduledTime: NOW,
    conditions: [
      {
        type: "Scheduled",
        status: "True",
        reason: "Success",
        message: "Binding has been scheduled successfully.",
        lastTransitionTime: NOW,
      },
    ],
  });
});

test("nothing is written again for the same generation", () => {
  const once = planScheduled(binding, { outcome: "unchanged" }, 2, NOW);

  expect(planScheduled(once, { outcome: "unchanged" }, 2, LATER)).toBe(once);
});

test("a failure records the reason, and does not count as scheduled", () => {
  const next = planScheduled(binding, failed, 1, NOW);

  expect(next.status).toMatchObject({
    conditions: [{ type: "Scheduled", status: "False", reason: "NoClusterFit", message: "0/3 clusters are available" }],
  });
  expect(next.status).not.toHaveProperty("lastScheduledTime");
  expect(next.status).not.toHaveProperty("schedulerObservedGeneration");
});

test("an unchanged binding keeps its last scheduled time", () => {
  const once = planScheduled(binding, scheduled, 2, NOW);

  expect(planScheduled(once, { outcome: "unchanged" }, 3, LATER).status).toMatchObject({
    schedulerObservedGeneration: 3,
    lastScheduledTime: NOW,
  });
});

test("the observed affinity is recorded", () => {
  expect(planScheduled(binding, { ...scheduled, affinityName: "home" }, 2, NOW).status).toMatchObject({
    schedulerObservingAffinityName: "home",
  });
});
