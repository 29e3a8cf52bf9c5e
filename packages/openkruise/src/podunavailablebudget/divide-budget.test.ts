import { expect, test } from "vitest";
import { defined } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { divideBudget, type DividedBudget } from "./divide-budget.ts";

const budget = (spec: NonNullable<DividedBudget["spec"]>, annotations?: Record<string, string>): DividedBudget => ({
  apiVersion: "policy.kruise.io/v1beta1",
  kind: "PodUnavailableBudget",
  metadata: { name: "web", namespace: "shop", ...defined({ annotations }) },
  spec,
});
const share = (cluster: string, rest: Partial<Share> = {}): Share => ({ cluster, replicas: 0, isWhole: true, ...rest });
const runs = (replicas: number, isWhole = false): Partial<Share> => ({
  workloads: { replicas, unsettled: 0, isWhole },
});
const reports = (
  totalReplicas: number,
  desiredAvailable: number,
  currentAvailable = totalReplicas,
): Partial<Share> => ({
  observed: { totalReplicas, desiredAvailable, currentAvailable },
});

const cases: Record<string, { budget: DividedBudget; shares: Share[]; want: Record<string, unknown> }> = {
  "maxUnavailable is divided by the replicas of the workloads before members report": {
    budget: budget({ maxUnavailable: 3 }),
    shares: [share("oslo", runs(4)), share("paris", runs(2))],
    want: { oslo: { maxUnavailable: 2 }, paris: { maxUnavailable: 1 } },
  },
  "maxUnavailable is divided by the pods that members report": {
    budget: budget({ maxUnavailable: 3 }),
    shares: [share("oslo", reports(2, 2)), share("paris", reports(4, 4))],
    want: { oslo: { maxUnavailable: 1 }, paris: { maxUnavailable: 2 } },
  },
  "a part that a member still enforces is not given to another": {
    budget: budget({ maxUnavailable: 3 }),
    shares: [
      share("oslo", { ...reports(3, 0), copy: budget({ maxUnavailable: 0 }) }),
      share("paris", { ...reports(6, 6), copy: budget({ maxUnavailable: 0 }) }),
    ],
    want: { oslo: { maxUnavailable: 1 }, paris: { maxUnavailable: 0 } },
  },
  "minAvailable is divided, and its sum is exact": {
    budget: budget({ minAvailable: 4 }),
    shares: [share("oslo", reports(3, 0)), share("paris", reports(3, 0))],
    want: { oslo: { minAvailable: 2 }, paris: { minAvailable: 2 } },
  },
  "a percentage is copied": {
    budget: budget({ maxUnavailable: "20%" }),
    shares: [share("oslo", runs(4)), share("paris", runs(2))],
    want: { oslo: { maxUnavailable: "20%" }, paris: { maxUnavailable: "20%" } },
  },
  "a budget of a duplicated workload is copied": {
    budget: budget({ maxUnavailable: 1 }),
    shares: [share("oslo", runs(4, true)), share("paris", runs(4, true))],
    want: { oslo: { maxUnavailable: 1 }, paris: { maxUnavailable: 1 } },
  },
  "a budget for each cluster is copied": {
    budget: budget({ maxUnavailable: 1 }, { "flotilla.dev/partition-scope": "cluster" }),
    shares: [share("oslo", runs(4)), share("paris", runs(2))],
    want: { oslo: { maxUnavailable: 1 }, paris: { maxUnavailable: 1 } },
  },
  "the protected total is divided by the replicas of the workloads": {
    budget: budget({ maxUnavailable: "50%", protectTotalReplicas: 6 }),
    shares: [share("oslo", runs(4)), share("paris", runs(2))],
    want: {
      oslo: { maxUnavailable: "50%", protectTotalReplicas: 4 },
      paris: { maxUnavailable: "50%", protectTotalReplicas: 2 },
    },
  },
  "a member that leaves gets no copy": {
    budget: budget({ maxUnavailable: 2 }),
    shares: [share("oslo", runs(4)), share("paris", { leaving: true, copy: budget({ maxUnavailable: 1 }) })],
    want: { oslo: { maxUnavailable: 1 } },
  },
};
for (const [behaviour, { budget: given, shares, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(
      Object.fromEntries(Array.from(divideBudget(given, shares), ([cluster, { spec }]) => [cluster, spec])),
    ).toEqual(want);
  });
}

test("the annotation of v1alpha1 with the protected total is divided", () => {
  const given = budget({ maxUnavailable: 2 }, { "pub.kruise.io/protect-total-replicas": "6" });

  const copies = divideBudget(given, [share("oslo", runs(4)), share("paris", runs(2))]);

  expect(Array.from(copies.values(), ({ metadata }) => metadata.annotations)).toEqual([
    { "pub.kruise.io/protect-total-replicas": "4" },
    { "pub.kruise.io/protect-total-replicas": "2" },
  ]);
});
