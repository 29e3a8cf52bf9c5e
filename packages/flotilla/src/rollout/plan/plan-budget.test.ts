import { describe, expect, test } from "vitest";
import type { FleetDisruptionBudget } from "../kinds/fleet-disruption-budget.ts";
import { planBudget } from "./plan-budget.ts";
import type { BudgetPlan, WorkloadPods } from "./plan-budget.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");
type Spec = FleetDisruptionBudget["spec"];
type Claims = NonNullable<FleetDisruptionBudget["status"]>["claims"];

function plan(
  limits: Partial<Spec>,
  workloads: readonly WorkloadPods[],
  { claims, holder, workload }: { claims?: Claims; holder?: string; workload?: string } = {},
): BudgetPlan {
  const budget: FleetDisruptionBudget = {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "FleetDisruptionBudget",
    metadata: { name: "shop", namespace: "shop", generation: 3 },
    spec: { selector: {}, ...limits },
    status: { expected: 0, available: 0, allowed: 0, limit: 0, claims },
  };
  return planBudget(budget, workloads, { holder, workload, nowMs: NOW_MS });
}
const pods = (name: string, expected: number, available = expected): WorkloadPods => ({ name, expected, available });

describe("the limit of a budget", () => {
  const cases: Record<string, { limits: Partial<Spec>; expected: number; want: number }> = {
    "is a number of pods": { limits: { maxUnavailable: 3 }, expected: 10, want: 3 },
    "is a percentage of maxUnavailable, rounded up": { limits: { maxUnavailable: "25%" }, expected: 10, want: 3 },
    "is exact where a percentage divides": { limits: { maxUnavailable: "7%" }, expected: 100, want: 7 },
    "is zero for 0% of maxUnavailable": { limits: { maxUnavailable: "0%" }, expected: 10, want: 0 },
    "is what minAvailable leaves, its percentage rounded up": {
      limits: { minAvailable: "75%" },
      expected: 10,
      want: 2,
    },
    "is zero when minAvailable is more than there are": { limits: { minAvailable: 20 }, expected: 10, want: 0 },
    "is zero when minAvailable is 100%": { limits: { minAvailable: "100%" }, expected: 7, want: 0 },
    "is zero when maxUnavailable is negative": { limits: { maxUnavailable: -1 }, expected: 10, want: 0 },
    "is zero without a limit in the spec": { limits: {}, expected: 10, want: 0 },
    "is zero for a percentage of no pods": { limits: { maxUnavailable: "50%" }, expected: 0, want: 0 },
  };
  for (const [behaviour, { limits, expected, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(plan(limits, [pods("CloneSet web", expected)]).status.limit).toBe(want);
    });
});

describe("the allowance of a budget", () => {
  const cases: Record<
    string,
    {
      limit: number;
      workloads: WorkloadPods[];
      claims?: Claims;
      want: { allowance: number; missing: number; allowed: number };
    }
  > = {
    "is the whole limit while nothing is unavailable": {
      limit: 4,
      workloads: [pods("CloneSet web", 10), pods("CloneSet cart", 10)],
      want: { allowance: 4, missing: 0, allowed: 4 },
    },
    "includes the workload's own unavailable pods": {
      limit: 4,
      workloads: [pods("CloneSet web", 10, 7), pods("CloneSet cart", 10)],
      want: { allowance: 4, missing: 3, allowed: 1 },
    },
    "loses the unavailable pods of other workloads": {
      limit: 4,
      workloads: [pods("CloneSet web", 10), pods("CloneSet cart", 10, 9)],
      want: { allowance: 3, missing: 0, allowed: 3 },
    },
    "counts claimed pods once when they are also unavailable": {
      limit: 4,
      workloads: [pods("CloneSet web", 10), pods("CloneSet cart", 10, 8)],
      claims: [{ holder: "FleetRollout cart-1", pods: 3 }],
      want: { allowance: 1, missing: 0, allowed: 1 },
    },
    "keeps what the holder itself has claimed": {
      limit: 4,
      workloads: [pods("CloneSet web", 10, 9)],
      claims: [{ holder: "FleetRollout web-1", pods: 2 }],
      want: { allowance: 4, missing: 1, allowed: 2 },
    },
    "gets back a claim that has expired": {
      limit: 4,
      workloads: [pods("CloneSet web", 10)],
      claims: [{ holder: "FleetRollout cart-1", pods: 3, expires: "2026-05-01T12:00:00Z" }],
      want: { allowance: 4, missing: 0, allowed: 4 },
    },
    "waits for a claim that expires later": {
      limit: 4,
      workloads: [pods("CloneSet web", 10)],
      claims: [{ holder: "FleetRollout cart-1", pods: 3, expires: "2026-05-01T12:00:01Z" }],
      want: { allowance: 1, missing: 0, allowed: 1 },
    },
    "is never negative when more is unavailable than the limit": {
      limit: 2,
      workloads: [pods("CloneSet web", 10, 0), pods("CloneSet cart", 10, 5)],
      want: { allowance: 0, missing: 10, allowed: 0 },
    },
    "is the limit for a workload that the budget does not select yet": {
      limit: 2,
      workloads: [],
      want: { allowance: 2, missing: 0, allowed: 2 },
    },
  };
  for (const [behaviour, { limit, workloads, claims, want }] of Object.entries(cases))
    test(behaviour, () => {
      const { allowance, missing, status } = plan({ maxUnavailable: limit }, workloads, {
        claims,
        holder: "FleetRollout web-1",
        workload: "CloneSet web",
      });

      expect({ allowance, missing, allowed: status.allowed }).toEqual(want);
    });
});

test("the status of a budget drops expired claims and says which generation it is about", () => {
  const { status } = plan({ maxUnavailable: 2 }, [pods("CloneSet web", 5, 4), pods("CloneSet cart", 3)], {
    claims: [
      { holder: "FleetRollout web-1", pods: 1 },
      { holder: "FleetRollout cart-1", pods: 1, expires: "2026-05-01T11:59:59Z" },
    ],
  });

  expect(status).toEqual({
    observedGeneration: 3,
    expected: 8,
    available: 7,
    limit: 2,
    allowed: 1,
    claims: [{ holder: "FleetRollout web-1", pods: 1 }],
  });
});
