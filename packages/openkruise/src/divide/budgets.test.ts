import { array, assert, nat, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { splitBudgets, splitBudgetsEvenly, splitScaleStrategy, type Budgets } from "./budgets.ts";

const cases: Record<string, { sizes: number[]; budgets: Budgets; want: Budgets[] }> = {
  "is split by cluster size": {
    sizes: [50, 30, 20],
    budgets: { maxUnavailable: 10 },
    want: [{ maxUnavailable: 5 }, { maxUnavailable: 3 }, { maxUnavailable: 2 }],
  },
  "in percent is resolved once for the fleet": {
    sizes: [50, 30, 20],
    budgets: { maxUnavailable: "5%" },
    want: [{ maxUnavailable: 3 }, { maxUnavailable: 1 }, { maxUnavailable: 1 }],
  },
  "without a percent sign is a percentage, as the kinds read it": {
    sizes: [10, 10],
    budgets: { maxUnavailable: "20" },
    want: [{ maxUnavailable: 2 }, { maxUnavailable: 2 }],
  },
  "smaller than the number of clusters gives each cluster one": {
    sizes: [3, 3, 4],
    budgets: { maxUnavailable: 1 },
    want: [{ maxUnavailable: 1 }, { maxUnavailable: 1 }, { maxUnavailable: 1 }],
  },
  "for surge is not rounded up in each cluster": {
    sizes: [4, 4, 2],
    budgets: { maxUnavailable: "30%", maxSurge: "10%" },
    want: [
      { maxUnavailable: 1, maxSurge: 1 },
      { maxUnavailable: 1, maxSurge: 0 },
      { maxUnavailable: 1, maxSurge: 0 },
    ],
  },
  "of zero unavailable pods is kept by surge in each cluster": {
    sizes: [4, 4],
    budgets: { maxUnavailable: 0, maxSurge: 1 },
    want: [
      { maxUnavailable: 0, maxSurge: 1 },
      { maxUnavailable: 0, maxSurge: 1 },
    ],
  },
  "counts a percentage that rounds to zero as one": {
    sizes: [1, 1],
    budgets: { maxUnavailable: "1%" },
    want: [{ maxUnavailable: 1 }, { maxUnavailable: 1 }],
  },
  "leaves unset fields unset": { sizes: [1, 1], budgets: {}, want: [{}, {}] },
};
for (const [behaviour, { sizes, budgets, want }] of Object.entries(cases)) {
  test(`a budget ${behaviour}`, () => {
    expect(splitBudgets(budgets, sizes)).toEqual(want);
  });
}

test("a budget never blocks: every cluster gets surge or unavailability", () => {
  const something = tuple(nat(20), nat(20)).filter(([maxUnavailable, maxSurge]) => maxUnavailable + maxSurge > 0);
  assert(
    property(array(nat(100), { minLength: 2, maxLength: 6 }), something, (sizes, [maxUnavailable, maxSurge]) => {
      for (const part of splitBudgets({ maxUnavailable, maxSurge }, sizes))
        expect(part.maxUnavailable + part.maxSurge).toBeGreaterThan(0);
    }),
    { seed: 3, numRuns: 300 },
  );
});

test("rejects an invalid budget", () => {
  expect(() => splitBudgets({ maxUnavailable: "many" }, [1, 1])).toThrow('"many" is neither a number nor a percentage');
});

test("splits a budget evenly when only members know their pod counts, and keeps a percentage as is", () => {
  expect(splitBudgetsEvenly({ maxUnavailable: 10 }, 3)).toEqual([
    { maxUnavailable: 4 },
    { maxUnavailable: 3 },
    { maxUnavailable: 3 },
  ]);
  expect(splitBudgetsEvenly({ maxUnavailable: "10%" }, 2)).toEqual([
    { maxUnavailable: "10%" },
    { maxUnavailable: "10%" },
  ]);
  expect(splitBudgetsEvenly({ maxUnavailable: 0, maxSurge: 2 }, 3)).toEqual([
    { maxUnavailable: 0, maxSurge: 1 },
    { maxUnavailable: 0, maxSurge: 1 },
    { maxUnavailable: 0, maxSurge: 1 },
  ]);
});

test("splits the scaleStrategy budget and copies the rest of the strategy", () => {
  expect(splitScaleStrategy({ podsToDelete: ["a"], maxUnavailable: 4 }, [6, 2])).toEqual([
    { podsToDelete: ["a"], maxUnavailable: 3 },
    { podsToDelete: ["a"], maxUnavailable: 1 },
  ]);
  expect(splitScaleStrategy(undefined, [1, 1])).toEqual([undefined, undefined]);
});
