import { expect, test } from "vitest";
import type { RolloutStrategy } from "@flotilla/apimachinery/facts/cluster-ocm-v1alpha1.ts";
import {
  planWorksRollout,
  type ClusterRollout,
  type DecisionGroup,
  type RolloutPlan,
  type RolloutState,
} from "./plan-works-rollout.ts";

const NOW = 1_000_000_000;
const six: DecisionGroup[] = [{ name: "", index: 0, clusters: ["c1", "c2", "c3", "c4", "c5", "c6"] }];
const at = (cluster: string, state: RolloutState, secondsAgo: number): ClusterRollout => ({
  cluster,
  state,
  sinceMs: NOW - secondsAgo * 1000,
});
const groupsOf = (...groups: string[][]): DecisionGroup[] =>
  groups.map((clusters, index) => ({ name: `group${index + 1}`, index, clusters }));
const summaryOf = ({ toRollout, timedOut, isStopped, recheckAfterMs }: RolloutPlan): object => ({
  rollout: toRollout.map(({ cluster }) => cluster),
  timedOut: timedOut.map(({ cluster }) => cluster),
  isStopped,
  recheck: recheckAfterMs === undefined ? undefined : recheckAfterMs / 1000,
});

const progressive = (progressive: RolloutStrategy["progressive"]): RolloutStrategy => ({
  type: "Progressive",
  progressive: progressive ?? {},
});
const perGroup = (progressivePerGroup: RolloutStrategy["progressivePerGroup"]): RolloutStrategy => ({
  type: "ProgressivePerGroup",
  progressivePerGroup: progressivePerGroup ?? {},
});

interface Case {
  strategy: RolloutStrategy;
  groups?: DecisionGroup[];
  existing: ClusterRollout[];
  want: { rollout: string[]; timedOut?: string[]; isStopped?: boolean; recheck?: number };
}

const started = [at("c1", "Succeeded", 60), at("c2", "Failed", 120), at("c3", "Progressing", 60)];
const cases: Record<string, Case> = {
  "stops at the first failure if maxFailures is 0": {
    strategy: progressive({ maxConcurrency: 2, progressDeadline: "90s" }),
    existing: started,
    want: { rollout: ["c3"], timedOut: ["c2"], isStopped: true, recheck: 30 },
  },
  "continues while failures are within maxFailures": {
    strategy: progressive({ maxConcurrency: 2, progressDeadline: "90s", maxFailures: 1 }),
    existing: started,
    want: { rollout: ["c3", "c4"], timedOut: ["c2"], recheck: 30 },
  },
  "with a progressDeadline of 0s does not wait for progressing clusters": {
    strategy: progressive({ maxConcurrency: 2, progressDeadline: "0s", maxFailures: 3 }),
    existing: [at("c2", "Progressing", 60), at("c3", "Progressing", 60), at("c1", "Succeeded", 60)],
    want: { rollout: ["c4", "c5"], timedOut: ["c2", "c3"] },
  },
  "waits for minSuccessTime after a success": {
    strategy: progressive({ maxConcurrency: 1, minSuccessTime: "1m" }),
    existing: [at("c1", "Succeeded", 30)],
    want: { rollout: ["c1"], recheck: 30 },
  },
  "continues after minSuccessTime": {
    strategy: progressive({ maxConcurrency: 1, minSuccessTime: "1m" }),
    existing: [at("c1", "Succeeded", 61)],
    want: { rollout: ["c2"] },
  },
  "tolerates all failures if maxFailures exceeds the number of clusters": {
    strategy: progressive({ maxConcurrency: 1, progressDeadline: "0s", maxFailures: 9 }),
    existing: [at("c1", "Failed", 1)],
    want: { rollout: ["c2"], timedOut: ["c1"] },
  },
  "finishes mandatory groups without any failure first": {
    strategy: progressive({ progressDeadline: "90s", mandatoryDecisionGroups: [{ groupName: "group1" }] }),
    groups: groupsOf(["c1", "c2"], ["c3"]),
    existing: [at("c1", "Failed", 120), at("c2", "Failed", 60)],
    want: { rollout: ["c2"], timedOut: ["c1"], isStopped: true, recheck: 30 },
  },
  "starts a group when only tolerated failures are left in the previous one": {
    strategy: perGroup({ maxFailures: 2 }),
    groups: groupsOf(["c1", "c2", "c3"], ["c4", "c5", "c6"], ["c7", "c8", "c9"]),
    existing: [at("c1", "Succeeded", 60), at("c2", "Failed", 60), at("c3", "Succeeded", 60)],
    want: { rollout: ["c2", "c4", "c5", "c6"] },
  },
  "starts one group, not two, after a cluster timed out": {
    strategy: perGroup({ maxFailures: 1, progressDeadline: "90s" }),
    groups: groupsOf(["c1"], ["c2"], ["c3"]),
    existing: [at("c1", "Failed", 120)],
    want: { rollout: ["c2"], timedOut: ["c1"] },
  },
  "of type All never stops": {
    strategy: { type: "All", all: { progressDeadline: "90s" } },
    existing: [at("c1", "Failed", 120), at("c2", "Failed", 120), at("c3", "Failed", 120)],
    want: { rollout: ["c4", "c5", "c6"], timedOut: ["c1", "c2", "c3"] },
  },
};

for (const [behaviour, { strategy, groups = six, existing, want }] of Object.entries(cases)) {
  test(`a rollout ${behaviour}`, () => {
    expect(summaryOf(planWorksRollout(strategy, groups, existing, NOW))).toEqual({
      timedOut: [],
      isStopped: false,
      recheck: undefined,
      ...want,
    });
  });
}

test("clusters that were not chosen are reported as removed", () => {
  const plan = planWorksRollout({ type: "All" }, groupsOf(["c1"]), [at("c9", "Succeeded", 1)], NOW);

  expect(plan.removed).toEqual([at("c9", "Succeeded", 1)]);
});

test.each([
  {
    strategy: progressive({ maxFailures: "x" }),
    error:
      "failed to parse the provided maxFailures: 'x' is an invalid maximum threshold value: string is not a percentage",
  },
  { strategy: progressive({ progressDeadline: "soon" }), error: "invalid timeout format" },
  { strategy: progressive({ progressDeadline: "1.5h" }), error: "invalid timeout format" },
  { strategy: progressive({ progressDeadline: "-5m" }), error: "invalid timeout format" },
  { strategy: progressive({ progressDeadline: "5m later" }), error: 'time: invalid duration "5m later"' },
  { strategy: progressive({ minSuccessTime: "soon" }), error: 'time: invalid duration "soon"' },
  { strategy: { type: "Weird" } as unknown as RolloutStrategy, error: "incorrect rollout strategy type Weird" },
])("an invalid strategy is rejected: $error", ({ strategy, error }) => {
  expect(() => planWorksRollout(strategy, six, [], NOW)).toThrow(error);
});
