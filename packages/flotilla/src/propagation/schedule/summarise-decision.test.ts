import { expect, test } from "vitest";
import type { SchedulePlan } from "./plan-schedule.ts";
import { summariseDecision } from "./summarise-decision.ts";

test("clusters of the result are listed one by one, the others by reason", () => {
  const tainted = Array.from({ length: 12 }, (_, index) => ({
    cluster: `t${index}`,
    rejectedBy: "TaintToleration",
    reason: "tainted",
  }));
  const plan: SchedulePlan = {
    outcome: "scheduled",
    clusters: [{ name: "oslo", replicas: 2 }],
    affinityName: "away",
    failedTerms: [{ name: "home", message: "no room" }],
    verdicts: [
      { cluster: "bern", reason: "cluster is being removed" },
      { cluster: "oslo", score: 100, available: 7, replicas: 2 },
      ...tainted,
    ],
  };

  expect(summariseDecision(plan)).toEqual({
    kept: [{ cluster: "oslo", score: 100, available: 7, replicas: 2 }],
    rejected: [
      {
        by: "TaintToleration",
        reason: "tainted",
        count: 12,
        clusters: ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"],
      },
      { by: "Fleet", reason: "cluster is being removed", count: 1, clusters: ["bern"] },
    ],
    affinityName: "away",
    failedTerms: [{ name: "home", message: "no room" }],
  });
});

test("a failure contains its reason", () => {
  const plan: SchedulePlan = {
    outcome: "unschedulable",
    reason: "Unschedulable",
    message: "no room",
    failedTerms: [],
    verdicts: [{ cluster: "oslo", score: 0, available: 1 }],
  };

  expect(summariseDecision(plan)).toEqual({
    kept: [{ cluster: "oslo", score: 0, available: 1 }],
    rejected: [],
    message: "no room",
  });
});

test("an unchanged binding has no new decision", () => {
  expect(summariseDecision({ outcome: "unchanged" })).toBeUndefined();
});

test("of very many reasons the last are combined", () => {
  const verdicts = Array.from({ length: 60 }, (_, index) => ({
    cluster: `t${index}`,
    rejectedBy: "TaintToleration",
    reason: `tainted ${String(index).padStart(2, "0")}`,
  }));
  const plan: SchedulePlan = { outcome: "scheduled", clusters: [], failedTerms: [], verdicts };

  const rejected = summariseDecision(plan)?.rejected ?? [];

  expect(rejected).toHaveLength(50);
  expect(rejected.at(-1)).toEqual({
    by: "Fleet",
    reason: "11 other reasons",
    count: 11,
    clusters: ["t49", "t50", "t51", "t52", "t53", "t54", "t55", "t56", "t57", "t58"],
  });
});
