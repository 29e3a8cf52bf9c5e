import { expect, test } from "vitest";
import { firstCommonIndex, indexProblem } from "./index-validation.ts";

const cases: Record<string, [text: string, want: number | string]> = {
  "an empty text has no indexes": ["", 0],
  "single indexes and ranges are counted": ["0,2-4,7", 5],
  "indexes must increase": ["3,1", "non-increasing order, previous: 3, current: 1"],
  "ranges must increase": ["4-2", "non-increasing order, previous: 4, current: 2"],
  "an index must be below the completions": ["12", 'too large index: "12"'],
  "an index must be a number": ["a", 'cannot convert string to integer for index: "a"'],
  "a range has exactly two ends": [
    "1-2-3",
    "the fragment \"1-2-3\" violates the requirement that an index interval can have at most two parts separated by '-'",
  ],
};
for (const [behaviour, [text, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(indexProblem(text, 10)).toBe(want);
  });
}

test("the first index in both sets is found", () => {
  expect([firstCommonIndex("0-3,7", "5,7-9", 10), firstCommonIndex("0-3", "4-5", 10)]).toEqual([7, undefined]);
});
