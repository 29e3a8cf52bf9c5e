import { expect, test } from "vitest";
import { countJsonValues, exceedsJsonLimits } from "./json-values.ts";

const count = (text: string, limit?: number): number => countJsonValues(Buffer.from(text), limit);

test.each([
  ["1", 1],
  ['{"a":1,"b":2}', 3],
  ["[1,2,[3]]", 5],
  ['{"a":"[,{,"}', 2],
  ['{"a\\"{":"\\\\","b":1}', 3],
  ['["é,\\u0022,"]', 2],
])("counts the values of %s", (text, values) => {
  expect(count(text)).toBe(values);
});

test("an empty list or object counts at least as many values as it has", () => {
  expect(count("[[],{}]")).toBeGreaterThanOrEqual(3);
});

test("counting stops above the limit", () => {
  expect(count(`[${"1,".repeat(100_000)}1]`, 10)).toBe(11);
});

test("a text that is not JSON is counted to its end", () => {
  expect(count('{"a": "never ends')).toBe(2);
  expect(count('"\\')).toBe(1);
});

test.each([
  ['{"a":1,"b":2,"c":3}', 10, 3, false],
  ['{"a":1,"b":2,"c":3}', 10, 2, true],
  ["[1,2,3,4,5]", 10, 2, false],
  ["[1,2,3,4,5]", 5, 2, true],
  ['[{"a":[1,2,3],"b":{"c":1}},{"d":1,"e":2}]', 20, 2, false],
  ['{"a,b,c":"d,e,f"}', 10, 1, false],
  ["]]},,,", 10, 1, false],
])("%s with at most %i values and %i keys in an object: exceeded is %s", (text, values, keys, want) => {
  expect(exceedsJsonLimits(Buffer.from(text), { values, keys })).toBe(want);
});
