import { expect, test } from "vitest";
import { makeBinding, makeDeployment } from "../../testing/index.ts";
import { planScheduled } from "./plan-scheduled.ts";

const NOW = "2024-05-01T12:00:00Z";
const LATER = "2024-05-01T13:00:00Z";
const binding = makeBinding(makeDeployment("shop/web").build()).build();
const scheduled = { outcome: "scheduled", clusters: [{ name: "paris", replicas: 1 }], verdicts: [] } as const;

test("a scheduled binding says when, for which generation, and that it worked", () => {
  const next = planScheduled(binding, { ...scheduled, clusters: [...scheduled.clusters], verdicts: [] }, 2, NOW);

  expect(next.status).toEqual({
    schedulerObservedGeneration: 2,
    lastScheduledTime: NOW,
    conditions: [{ type: "Scheduled", status: "True", reason: "Success", message: "Binding has been scheduled successfully.", lastTransitionTime: NOW }],
  });
});

test("nothing is written again for the same generation", () => {
  const once = planScheduled(binding, { outcome: "unchanged" }, 2, NOW);

  expect(planScheduled(once, { outcome: "unchanged" }, 2, LATER)).toBe(once);
});

test("a failure says why, and does not count as scheduled", () => {
  const next = planScheduled(binding, { outcome: "unschedulable", reason: "NoClusterFit", message: "0/3 clusters are available", verdicts: [] }, 1, NOW);

  expect(next.status).toMatchObject({ conditions: [{ type: "Scheduled", status: "False", reason: "NoClusterFit", message: "0/3 clusters are available" }] });
  expect(next.status).not.toHaveProperty("lastScheduledTime");
});
