import { describe, expect, test } from "vitest";
import type { PodUnavailableBudgetStatus } from "@flotilla/apimachinery/facts/policy-kruise-v1alpha1.ts";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { checkBudget, withoutGrant } from "./check-budget.ts";
import type { ReadonlyBudget } from "./budget-pod-state.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const status: PodUnavailableBudgetStatus = {
  unavailableAllowed: 1,
  currentAvailable: 3,
  desiredAvailable: 2,
  totalReplicas: 3,
};
const pod = { metadata: { name: "a", labels: { tier: "batch" } }, spec: { containers: [] } } as unknown as ReadonlyPod;

function makeBudget(spec: object, budgetStatus: Partial<PodUnavailableBudgetStatus> = {}): ReadonlyBudget {
  return {
    apiVersion: "policy.kruise.io/v1beta1",
    kind: "PodUnavailableBudget",
    metadata: { name: "budget" },
    spec,
    status: { ...status, ...budgetStatus },
  };
}

describe("a budget", () => {
  test("ignores the pods of ignoredPodSelector", () => {
    const budget = makeBudget({ ignoredPodSelector: { matchLabels: { tier: "batch" } } }, { unavailableAllowed: 0 });

    expect(checkBudget(budget, pod, "DELETE", DEFAULT_GATES, NOW)).toEqual({ allowed: true });
  });

  test("protects nothing before the first count", () => {
    const { status: _, ...budget } = makeBudget({ maxUnavailable: 0 });

    expect(checkBudget(budget, pod, "DELETE", DEFAULT_GATES, NOW)).toEqual({ allowed: true });
  });

  test("rejects when too many granted pods still exist", () => {
    const disruptedPods = Object.fromEntries(
      Array.from({ length: 2001 }, (_, index) => [`p${index}`, "2024-05-01T12:00:00Z"]),
    );

    expect(checkBudget(makeBudget({}, { disruptedPods }), pod, "EVICT", DEFAULT_GATES, NOW)).toMatchObject({
      allowed: false,
    });
  });
});

test("refunds the charge of a failed write", () => {
  const verdict = checkBudget(makeBudget({ maxUnavailable: 1 }), pod, "DELETE", DEFAULT_GATES, NOW);
  const taken = verdict.allowed ? verdict.status : undefined;

  const after = taken && withoutGrant(taken, "a");

  expect(taken).toMatchObject({ unavailableAllowed: 0, disruptedPods: { a: "2024-05-01T12:00:00Z" } });
  expect(after).toMatchObject({ unavailableAllowed: 1, disruptedPods: {} });
});

test.each([undefined, status])("refunds nothing that a budget did not charge: %o", (counted) => {
  expect(withoutGrant(counted, "a")).toBeUndefined();
});
