import { array, assert, constantFrom, double, nat, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import { planUpdated, type StagePlan } from "./plan-updated.ts";
import { sumOf } from "./split-partition.ts";

const cases: Record<string, StagePlan & { want: number[] }> = {
  "splits from scratch when nothing has started": {
    sizes: [10, 5],
    updated: 6,
    order: "spread",
    before: [0, 0],
    want: [4, 2],
  },
  "continues from the progress of each cluster": {
    sizes: [10, 5],
    updated: 9,
    order: "spread",
    before: [4, 2],
    want: [6, 3],
  },
  "keeps the target of a cluster that is ahead, and starts another one later": {
    sizes: [10, 5, 5],
    updated: 7,
    order: "spread",
    before: [5, 1, 0],
    want: [5, 2, 0],
  },
  "reduces the growth of other clusters when no unstarted cluster is left": {
    sizes: [10, 10],
    updated: 6,
    order: "spread",
    before: [5, 1],
    want: [5, 1],
  },
  "exceeds the stage rather than rolling back an update": {
    sizes: [10, 10],
    updated: 4,
    order: "spread",
    before: [5, 3],
    want: [5, 3],
  },
  "counts at most the current pods of a cluster": {
    sizes: [2, 8],
    updated: 5,
    order: "spread",
    before: [5, 0],
    want: [2, 3],
  },
  "keeps updated pods when the order changes": {
    sizes: [5, 5],
    updated: 4,
    order: "ordered",
    before: [0, 2],
    want: [2, 2],
  },
  "updates only the canaries while they have room": {
    sizes: [5, 5],
    updated: 3,
    order: { canaries: [false, true] },
    before: [1, 0],
    want: [1, 2],
  },
};
for (const [behaviour, { want, ...plan }] of Object.entries(cases)) {
  test(`a stage ${behaviour}`, () => {
    expect(planUpdated(plan)).toEqual(want);
  });
}

test("a stage never lowers a target, never exceeds a cluster, and adds up unless what runs already is more", () => {
  const members = array(tuple(nat(50), nat(50)), { minLength: 1, maxLength: 8 });
  assert(
    property(
      members,
      double({ min: 0, max: 1, noNaN: true }),
      constantFrom("spread" as const, "ordered" as const),
      (clusters, part, order) => {
        const sizes = clusters.map(([size]) => size);
        const before = clusters.map(([, updated]) => updated);
        const updated = Math.floor(sumOf(sizes) * part);
        const floors = sizes.map((size, index) => Math.min(size, before[index] ?? 0));

        const planned = planUpdated({ sizes, updated, order, before });

        expect(sumOf(planned)).toBe(Math.max(updated, sumOf(floors)));
        for (const [index, count] of planned.entries()) {
          expect(count).toBeGreaterThanOrEqual(floors[index] ?? 0);
          expect(count).toBeLessThanOrEqual(sizes[index] ?? 0);
        }
      },
    ),
    { seed: 11, numRuns: 2_000 },
  );
});

test("planning a stage again from its own result changes nothing", () => {
  assert(
    property(array(nat(50), { minLength: 1, maxLength: 8 }), double({ min: 0, max: 1, noNaN: true }), (sizes, part) => {
      const updated = Math.floor(sumOf(sizes) * part);
      const once = planUpdated({ sizes, updated, order: "spread", before: sizes.map(() => 0) });

      expect(planUpdated({ sizes, updated, order: "spread", before: once })).toEqual(once);
    }),
    { seed: 13, numRuns: 500 },
  );
});
