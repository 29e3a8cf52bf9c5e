import * as fc from "fast-check";
import { expect, test } from "vitest";
import { inOrderOfAppearance, readRepeatedKeys } from "./repeated-keys.ts";

const cases: Record<string, [json: string, want: unknown]> = {
  "objects under one key are merged": ['{"data":{"a":"1","k":"x"},"data":{"a":"2"}}', { data: { a: "2", k: "x" } }],
  "scalars and lists are replaced": ['{"a":1,"b":[1,2],"a":"x","b":[3]}', { a: "x", b: [3] }],
  "an object replaces a list": ['{"a":[1],"a":{"b":true}}', { a: { b: true } }],
  "null removes an object": ['{"a":{"b":1},"a":null}', { a: null }],
  "nested objects are merged": ['{"s":{"t":{"a":1}},"s":{"t":{"b":2}}}', { s: { t: { a: 1, b: 2 } } }],
  "elements of a list are not merged": ['{"l":[{"a":1}],"l":[{"b":2}]}', { l: [{ b: 2 }] }],
};
for (const [behaviour, [json, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(readRepeatedKeys(json)).toEqual(want);
  });
}

test("text without repeated keys is parsed as by JSON.parse", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);

      expect(readRepeatedKeys(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("unknown and repeated fields are reported in order, each once, and none inside an unknown one", () => {
  const text = '{"x":{"a":1,"a":2},"spec":{"n":1,"y":1,"n":2,"n":3,"list":[{"z":1}]},"spec":{}}';

  const found = inOrderOfAppearance(text, ["x", "spec.y", "spec.list[0].z"]);

  expect(found.map(({ field, repeated }) => `${repeated ? "repeated" : "unknown"} ${field}`)).toEqual([
    "unknown x",
    "unknown spec.y",
    "repeated spec.n",
    "unknown spec.list[0].z",
    "repeated spec",
  ]);
});

test("a hostile body gives at most a hundred problems", () => {
  const text = `{${Array.from({ length: 1000 }, (_, index) => `"k${index}":0,"k${index}":1`).join()}}`;

  expect(inOrderOfAppearance(text, [])).toHaveLength(100);
});
