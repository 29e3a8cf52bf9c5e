import { expect, test } from "vitest";
import { podUnavailableBudgetInterpreter as rules } from "./podunavailablebudget-interpreter.ts";

const budget = {
  apiVersion: "policy.kruise.io/v1beta1",
  kind: "PodUnavailableBudget",
  metadata: { name: "web", namespace: "shop", generation: 1 },
};

test("a budget shows the sums of its members, and disrupted pods with their clusters", () => {
  const observed = { observedGeneration: 1, generation: 1, resourceTemplateGeneration: 1 };
  const items = [
    {
      clusterName: "oslo",
      status: {
        ...observed,
        unavailableAllowed: 1,
        currentAvailable: 3,
        desiredAvailable: 2,
        totalReplicas: 3,
        disruptedPods: { "web-0": "2024-05-01T12:00:00Z" },
      },
    },
    {
      clusterName: "paris",
      status: {
        ...observed,
        unavailableAllowed: 0,
        currentAvailable: 4,
        desiredAvailable: 4,
        totalReplicas: 5,
        disruptedPods: { "web-0": "2024-05-01T12:00:01Z" },
      },
    },
  ];

  const once = rules.aggregateStatus?.(budget, items);

  expect(once?.status).toEqual({
    observedGeneration: 1,
    unavailableAllowed: 1,
    currentAvailable: 7,
    desiredAvailable: 6,
    totalReplicas: 8,
    disruptedPods: { "oslo/web-0": "2024-05-01T12:00:00Z", "paris/web-0": "2024-05-01T12:00:01Z" },
  });
  expect(rules.aggregateStatus?.(once ?? budget, items)).toBe(once);
});

test("a budget is healthy while enough pods are available", () => {
  expect(
    rules.isHealthy?.({ ...budget, status: { observedGeneration: 1, currentAvailable: 2, desiredAvailable: 2 } }),
  ).toBe(true);
  expect(
    rules.isHealthy?.({ ...budget, status: { observedGeneration: 1, currentAvailable: 1, desiredAvailable: 2 } }),
  ).toBe(false);
  expect(rules.isHealthy?.(budget)).toBe(false);
});
