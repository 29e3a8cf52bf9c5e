import * as fc from "fast-check";
import { expect, test } from "vitest";
import { goSort } from "./go-sort.ts";

interface Item {
  size: number;
  place: number;
}
const items = (sizes: readonly number[]): Item[] => sizes.map((size, place) => ({ size, place }));
const larger = (a: Item, b: Item): boolean => a.size > b.size;

test("up to twelve equal items keep their order", () => {
  const row = items([5, 7, 5, 7, 5, 7, 5, 7, 5, 7, 5, 7]);

  expect(goSort(row, larger).map(({ place }) => place)).toEqual([1, 3, 5, 7, 9, 11, 0, 2, 4, 6, 8, 10]);
});

test("more equal items are ordered as by Go's library", () => {
  const row = items([3, 10, 2, 100, 100, 2, 100, 0, 5, 100, 8, 10, 50, 20, 20, 20, 0, 3, 100, 5]);

  expect(goSort(row, larger)[0]?.place).toBe(18);
});

test("slices of any length and pattern are sorted and complete", () => {
  const length = fc.integer({ min: 0, max: 300 });
  const sizes = fc.oneof(
    fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 300 }),
    fc.array(fc.integer(), { maxLength: 300 }),
    length.map((count) => Array.from({ length: count }, (_, index) => index)),
    length.map((count) => Array.from({ length: count }, (_, index) => -index)),
    length.map((count) => Array.from({ length: count }, (_, index) => (index % 2 === 0 ? index : -index))),
    length.map((count) => Array.from({ length: count }, (_, index) => Math.min(index, count - index))),
  );

  fc.assert(
    fc.property(sizes, (sizes) => {
      const sorted = goSort(items(sizes), larger);

      expect(sorted.map(({ size }) => size)).toEqual([...sizes].sort((a, b) => b - a));
      expect(new Set(sorted.map(({ place }) => place)).size).toBe(sizes.length);
    }),
    { seed: 42, numRuns: 500 },
  );
});

test("the input is not modified", () => {
  const row = Object.freeze(items([1, 2, 3]));

  goSort(row, larger);

  expect(row.map(({ size }) => size)).toEqual([1, 2, 3]);
});
