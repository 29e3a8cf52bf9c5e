import { expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import { formatFloat, formatValue } from "./format-value.ts";

const values: [value: Json, want: string][] = [
  ['a"b\\c\n\u0007é\u200b', String.raw`"a\"b\\c\n\aé\u200b"`],
  [1, "1"],
  [9007199254740992, "9007199254740992"],
  [1e19, "1e+19"],
  [1234567.5, "1.2345675e+06"],
  [0.00001, "1e-05"],
  [-0.5, "-0.5"],
  [true, "true"],
  [null, "null"],
  [{ b: 1, a: ["<"] }, String.raw`{"a":["\u003c"],"b":1}`],
];
test.each(values)("a message shows %j as %s", (value, want) => {
  expect(formatValue(value)).toBe(want);
});

test("a limit is shown as a floating-point number", () => {
  expect([2, 2_000_000, 0.1].map(formatFloat)).toEqual(["2", "2e+06", "0.1"]);
});
