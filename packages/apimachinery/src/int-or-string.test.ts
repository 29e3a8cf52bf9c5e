import { expect, test } from "vitest";
import { scaledValue } from "./int-or-string.ts";

const cases: [value: number | string, total: number, roundUp: boolean, want: number][] = [
  [3, 10, true, 3],
  ["25%", 10, true, 3],
  ["25%", 10, false, 2],
  ["0%", 10, true, 0],
  ["100%", 7, false, 7],
  ["7%", 100, true, 7],
  ["29%", 100, true, 29],
  ["150%", 4, false, 6],
];
test.each(cases)("%s of %i rounded up: %s is %i", (value, total, roundUp, want) => {
  expect(scaledValue(value, total, { roundUp })).toBe(want);
});

test("a string that is not a percentage is rejected", () => {
  expect(() => scaledValue("5", 10, { roundUp: true })).toThrow("string is not a percentage");
});
