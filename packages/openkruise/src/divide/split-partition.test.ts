import { array, assert, boolean, constantFrom, double, nat, property, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { keptPods, partitionFor, splitUpdated, sumOf, type IntOrPercent, type UpdateOrder } from "./split-partition.ts";

/**
 * Clusters in rollout order, the partition, the pods it keeps in the fleet, and the pods kept in each cluster for both
 * orders.
 */
const vectors: { sizes: number[]; partition: IntOrPercent; kept: number; spread: number[]; ordered: number[] }[] = [
  { sizes: [10, 5], partition: 9, kept: 9, spread: [6, 3], ordered: [4, 5] },
  { sizes: [3, 3, 4], partition: "90%", kept: 9, spread: [3, 3, 3], ordered: [2, 3, 4] },
  { sizes: [3, 3, 4], partition: 5, kept: 5, spread: [1, 2, 2], ordered: [0, 1, 4] },
  { sizes: [1, 1, 1, 1, 1], partition: "50%", kept: 3, spread: [0, 0, 1, 1, 1], ordered: [0, 0, 1, 1, 1] },
  { sizes: [5, 5], partition: "99%", kept: 9, spread: [4, 5], ordered: [4, 5] },
  { sizes: [100, 1], partition: "99%", kept: 100, spread: [99, 1], ordered: [99, 1] },
  { sizes: [7, 5, 1], partition: "70%", kept: 10, spread: [5, 4, 1], ordered: [4, 5, 1] },
  { sizes: [0, 4, 6], partition: "80%", kept: 8, spread: [0, 3, 5], ordered: [0, 2, 6] },
  { sizes: [50, 30, 20], partition: "33%", kept: 33, spread: [16, 10, 7], ordered: [0, 13, 20] },
  { sizes: [2, 2], partition: 1, kept: 1, spread: [0, 1], ordered: [0, 1] },
  { sizes: [4, 4, 4], partition: "100%", kept: 12, spread: [4, 4, 4], ordered: [4, 4, 4] },
];

describe("a fleet-wide partition", () => {
  test.each(vectors)(
    "a fleet-wide partition of $partition keeps $kept of $sizes",
    ({ sizes, partition, kept, spread, ordered }) => {
      const total = sumOf(sizes);
      const keptIn = (order: UpdateOrder): number[] =>
        splitUpdated(sizes, total - kept, order).map((updated, index) => (sizes[index] ?? 0) - updated);

      expect(keptPods(partition, total)).toBe(kept);
      expect(keptIn("spread")).toEqual(spread);
      expect(keptIn("ordered")).toEqual(ordered);
    },
  );

  test.each(["spread", "ordered"] as const)("moves %s through single-pod clusters, batch by batch", (order) => {
    const sizes = Array.from({ length: 10 }, () => 1);

    const firsts = [1, 3, 5, 7, 10].map((updated) => splitUpdated(sizes, updated, order).lastIndexOf(1) + 1);

    expect(firsts).toEqual([1, 3, 5, 7, 10]);
  });

  /** Batches of 1:2:7 over clusters of 10, 20 and 70. */
  test.each([
    {
      order: "spread" as const,
      want: [
        [1, 2, 7],
        [3, 6, 21],
        [10, 20, 70],
      ],
    },
    {
      order: "ordered" as const,
      want: [
        [10, 0, 0],
        [10, 20, 0],
        [10, 20, 70],
      ],
    },
  ])("moves $order through clusters of 10, 20 and 70 in batches of 10, 30 and 100", ({ order, want }) => {
    expect([10, 30, 100].map((updated) => splitUpdated([10, 20, 70], updated, order))).toEqual(want);
  });

  test("moves through clusters of 7, 5 and 1 in a consistent order", () => {
    expect(splitUpdated([7, 5, 1], 2)).toEqual([1, 1, 0]);
    expect(splitUpdated([7, 5, 1], 4)).toEqual([2, 2, 0]);
  });

  test("fills the canaries one after another before it spreads over the others", () => {
    const canaries = [false, true, false, true];

    const steps = [2, 5, 6, 9, 20].map((updated) => splitUpdated([8, 3, 4, 2], updated, { canaries }));

    expect(steps).toEqual([
      [0, 2, 0, 0],
      [0, 3, 0, 2],
      [1, 3, 0, 2],
      [3, 3, 1, 2],
      [8, 3, 4, 2],
    ]);
  });

  test("holds a cluster that updates nothing, regardless of later scaling", () => {
    expect(partitionFor(4, 0)).toBe("100%");
    expect(partitionFor(4, 1)).toBe(3);
    expect(partitionFor(4, 4)).toBe(0);
  });

  test.each([
    { partition: "99%", total: 9, kept: 8 },
    { partition: "1%", total: 1, kept: 1 },
    { partition: "100.0%", total: 99, kept: 98 },
    { partition: "100%", total: 99, kept: 99 },
    { partition: undefined, total: 10, kept: 0 },
    { partition: 12, total: 10, kept: 10 },
  ])("a fleet-wide partition of $partition keeps $kept of $total pods", ({ partition, total, kept }) => {
    expect(keptPods(partition, total)).toBe(kept);
  });

  test("a fleet-wide partition that is neither a number nor a percentage is rejected", () => {
    expect(() => keptPods("half", 4)).toThrow('partition "half" is neither a number nor a percentage');
  });

  test("adds up exactly, fits every cluster and never rolls an update back, in every order", () => {
    const clusters = array(tuple(nat(2_000_000_000), boolean()), { minLength: 1, maxLength: 12 });
    assert(
      property(
        clusters,
        double({ min: 0, max: 1, noNaN: true }),
        constantFrom("spread", "ordered", "canary"),
        (members, part, mode) => {
          const sizes = members.map(([size]) => size);
          const order: UpdateOrder = mode === "canary" ? { canaries: members.map(([, isCanary]) => isCanary) } : mode;
          const total = sumOf(sizes);
          const updated = Math.floor(total * part);
          const split = splitUpdated(sizes, updated, order);

          expect(sumOf(split)).toBe(updated);
          for (const [index, count] of split.entries()) {
            expect(count).toBeGreaterThanOrEqual(0);
            expect(count).toBeLessThanOrEqual(sizes[index] ?? 0);
          }
          const further = splitUpdated(sizes, Math.min(total, updated + 1), order);
          expect(further.every((count, index) => count >= (split[index] ?? 0))).toBe(true);
        },
      ),
      { seed: 7, numRuns: 500 },
    );
  });
});
