import { array, assert, nat, option, property } from "fast-check";
import { expect, test } from "vitest";
import { sumOf } from "../divide/split-partition.ts";
import { shareSubsets, type Subset } from "./subset-shares.ts";

const podsOf = (subsets: Subset[], sizes: number[]): number[][] =>
  shareSubsets(subsets, sizes).map((members) => members.map(({ pods }) => pods));

const cases: Record<string, { subsets: Subset[]; sizes: number[]; want: number[][] }> = {
  "take their specified replicas and share the rest evenly": {
    subsets: [{ replicas: "50%" }, { replicas: 2 }, {}, {}],
    sizes: [6, 4],
    want: [
      [3, 2],
      [1, 1],
      [1, 0],
      [1, 1],
    ],
  },
  "round halves up, and the last one absorbs the difference": {
    subsets: [{ replicas: "50%" }, { replicas: "50%" }],
    sizes: [3, 2],
    want: [
      [2, 1],
      [1, 1],
    ],
  },
  "take less when fewer replicas were placed": {
    subsets: [{ replicas: 6 }, { replicas: 4 }],
    sizes: [4, 3],
    want: [
      [3, 3],
      [1, 0],
    ],
  },
  "get their lower limits first, then are filled in declared order": {
    subsets: [{ minReplicas: 2, maxReplicas: 5 }, { minReplicas: 2, maxReplicas: 5 }, { minReplicas: 2 }],
    sizes: [6, 5],
    want: [
      [3, 2],
      [2, 2],
      [1, 1],
    ],
  },
};
for (const [behaviour, { subsets, sizes, want }] of Object.entries(cases)) {
  test(`subsets ${behaviour}`, () => {
    expect(podsOf(subsets, sizes)).toEqual(want);
  });
}

test("subsets add up to the member and members to the fleet, and limits fit the running pods", () => {
  const limit = option(nat(8), { nil: undefined });
  assert(
    property(
      array(nat(20), { minLength: 2, maxLength: 5 }),
      array(limit, { minLength: 4, maxLength: 4 }),
      array(limit, { minLength: 4, maxLength: 4 }),
      (sizes, mins, maxes) => {
        const subsets = mins.map((min, index) => ({
          minReplicas: min,
          maxReplicas: maxes[index] !== undefined ? Math.max(min ?? 0, maxes[index]) : undefined,
        }));

        const split = shareSubsets(subsets, sizes);

        for (const [index, size] of sizes.entries()) {
          expect(sumOf(split.map((members) => members[index]?.pods ?? 0))).toBe(size);
          for (const members of split) {
            const { pods = 0, limits } = members[index] ?? {};
            expect(limits?.min ?? 0).toBeLessThanOrEqual(pods);
            expect(limits?.max ?? pods).toBeGreaterThanOrEqual(pods);
          }
        }
      },
    ),
    { seed: 19, numRuns: 500 },
  );
});
