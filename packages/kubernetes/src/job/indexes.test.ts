import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  NO_INDEXES,
  countCommon,
  countIndexes,
  firstMissing,
  formatIndexes,
  hasIndex,
  parseIndexes,
  unite,
  withIndexes,
} from "./indexes.ts";

const MANY = 1_000;
const some = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 });
const setOf = (indexes: readonly number[]) => withIndexes(NO_INDEXES, indexes);

describe("A set of indexes", () => {
  const cases: Record<string, { indexes: number[]; text: string }> = {
    "is empty when there are none": { indexes: [], text: "" },
    "lists two neighbors": { indexes: [4, 3], text: "3,4" },
    "combines three into a range": { indexes: [7, 5, 6, 1], text: "1,5-7" },
  };
  for (const [behaviour, { indexes, text }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(formatIndexes(setOf(indexes))).toBe(text);
      expect(formatIndexes(parseIndexes(text, MANY))).toBe(text);
    });
  }

  test("skips invalid entries and indexes beyond the completions", () => {
    expect(formatIndexes(parseIndexes("0,x,2-9,12", 5))).toBe("0,2-4");
  });

  test("reports contained and missing indexes", () => {
    fc.assert(
      fc.property(some, some, (left, right) => {
        const [a, b] = [setOf(left), setOf(right)];
        const both = new Set([...left, ...right]);

        expect(countIndexes(a)).toBe(left.length);
        expect(countIndexes(unite(a, b))).toBe(both.size);
        expect(countCommon(a, b)).toBe(left.filter((index) => right.includes(index)).length);
        expect(Array.from({ length: 62 }, (_, index) => index).filter((index) => hasIndex(a, index))).toEqual(
          left.toSorted((x, y) => x - y),
        );
        expect(firstMissing(a, 5, 61)).toEqual(
          Array.from({ length: 61 }, (_, index) => index)
            .filter((index) => !left.includes(index))
            .slice(0, 5),
        );
      }),
      { seed: 5, numRuns: 200 },
    );
  });
});
