import { expect, test } from "vitest";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { planEvents, planReported, reportedBy } from "./plan-events.ts";
import type { SchedulePlan } from "./plan-schedule.ts";

const none = { verdicts: [], failedTerms: [] };
const scheduled: SchedulePlan = {
  outcome: "scheduled",
  clusters: [{ name: "oslo", replicas: 2 }, { name: "paris" }],
  ...none,
};
const full = (room: number): SchedulePlan => ({
  outcome: "unschedulable",
  reason: "Unschedulable",
  message: `Clusters available replicas ${room} are not enough to schedule.`,
  ...none,
});

function makeScheduled(
  condition?: { status: "True" | "False"; reason: string; message: string },
  change: (binding: ResourceBinding) => void = () => undefined,
): ResourceBinding {
  return makeBinding(makeDeployment("shop/web").build())
    .with((binding) => {
      if (condition)
        binding.status = {
          conditions: [{ type: "Scheduled", lastTransitionTime: "2026-01-01T00:00:00Z", ...condition }],
        };
      change(binding);
    })
    .build();
}
const FULL = {
  status: "False",
  reason: "Unschedulable",
  message: "Clusters available replicas 3 are not enough to schedule.",
} as const;
const SUCCESS = { status: "True", reason: "Success", message: "Binding has been scheduled successfully." } as const;

const cases: Record<string, { binding: ResourceBinding; plan: SchedulePlan; want: string[] }> = {
  "a success is not reported": { binding: makeScheduled(), plan: scheduled, want: [] },
  "a continued success is not reported": { binding: makeScheduled(SUCCESS), plan: scheduled, want: [] },
  "a failure is reported": {
    binding: makeScheduled(SUCCESS),
    plan: full(3),
    want: ["ScheduleBindingFailed Clusters available replicas 3 are not enough to schedule."],
  },
  "a continued failure is not reported, regardless of its numbers": {
    binding: makeScheduled(FULL),
    plan: full(4),
    want: [],
  },
  "another failure is reported": {
    binding: makeScheduled(FULL),
    plan: { outcome: "unschedulable", reason: "NoClusterFit", message: "0/1 clusters are available", ...none },
    want: ["ScheduleBindingFailed 0/1 clusters are available"],
  },
  "the recovery from a failure is reported, with the result": {
    binding: makeScheduled(FULL),
    plan: scheduled,
    want: ["ScheduleBindingSucceed Binding has been scheduled successfully. Result: {oslo:2, paris:0}"],
  },
  "a recovery without a new decision is reported with the current clusters": {
    binding: makeScheduled(FULL, ({ spec }) => (spec.clusters = [{ name: "rome", replicas: 1 }])),
    plan: { outcome: "unchanged" },
    want: ["ScheduleBindingSucceed Binding has been scheduled successfully. Result: {rome:1}"],
  },
  "a failed affinity is reported, with its index": {
    binding: makeScheduled(
      undefined,
      ({ spec }) => (spec.placement = { clusterAffinities: [{ affinityName: "home" }, { affinityName: "away" }] }),
    ),
    plan: { ...scheduled, affinityName: "away", failedTerms: [{ name: "home", message: "full" }] },
    want: [
      "ScheduleBindingFailed failed to schedule ResourceBinding(shop/web-deployment) with clusterAffiliates index(0): full",
    ],
  },
  "an affinity that failed before is not reported": {
    binding: makeScheduled(SUCCESS, (binding) =>
      Object.assign(binding.status ?? {}, { schedulerObservingAffinityName: "away" }),
    ),
    plan: { ...scheduled, affinityName: "away", failedTerms: [{ name: "home", message: "full" }] },
    want: [],
  },
};
for (const [behaviour, { binding, plan, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(planEvents(binding, plan).map(({ reason, message }) => `${reason} ${message}`)).toEqual(want);
  });
}

test("reported events count before the status is written", () => {
  const binding = makeScheduled();

  const reported = planReported(full(3), reportedBy(binding));

  expect(planEvents(binding, full(4), reported)).toEqual([]);
  expect(planEvents(binding, scheduled, reported).map(({ reason }) => reason)).toEqual(["ScheduleBindingSucceed"]);
  expect(planEvents(binding, scheduled, planReported(scheduled, reported))).toEqual([]);
});
