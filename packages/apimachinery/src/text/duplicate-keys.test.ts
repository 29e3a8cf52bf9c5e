import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findDuplicateKeys, hasDuplicateKeys } from "./duplicate-keys.ts";

const cases: Record<string, [json: string, want: string[]]> = {
  "an object without duplicates has none": ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}', []],
  "a duplicate is found at the top level": ['{"a":1,"a":2}', ["a"]],
  "a duplicate is found deep inside, with its path": ['{"spec":{"list":[1,{"x":1,"y":2,"x":3}]}}', ["spec.list[1].x"]],
  "a key that occurs three times is reported once": ['{"a":1,"a":2,"a":3}', ["a"]],
  "strings that look like keys are not keys": ['{"a":"\\"a\\":1","b":["a","a"]}', []],
  "escapes do not hide a key": ['{"aA":1,"a\\u0041":2,"s/":1,"s\\/":2}', ["aA", "s/"]],
  "a backslash before the closing quote is parsed correctly": ['{"a\\\\":1,"b":"\\\\","a\\\\":2}', ["a\\"]],
  "whitespace is ignored": ['{ "a" : 1 ,\n "a" : 2 }', ["a"]],
  "keys of Object.prototype are ordinary keys": ['{"__proto__":1,"constructor":2,"__proto__":3}', ["__proto__"]],
};
for (const [behaviour, [json, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(findDuplicateKeys(json)).toEqual(want);
    expect(hasDuplicateKeys(json, JSON.parse(json))).toBe(want.length > 0);
  });
}

test("JSON.stringify output has no duplicates", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);

      expect(findDuplicateKeys(text)).toEqual([]);
      expect(hasDuplicateKeys(text, JSON.parse(text))).toBe(false);
    }),
  );
});

test("a duplicate is found among many keys", () => {
  const keys = Array.from({ length: 100 }, (_, index) => `"k${index}":0`);

  expect(findDuplicateKeys(`{${[...keys, '"k7":1'].join()}}`)).toEqual(["k7"]);
});

test("text that is nested too deeply is a bad request", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

  expect(findDuplicateKeys(nested(1000))).toEqual([]);
  expect(() => findDuplicateKeys(nested(1001))).toThrow(
    expect.objectContaining({ message: "json: exceeded max depth", code: "BadRequest" }),
  );
});
