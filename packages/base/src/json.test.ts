import { describe, expect, test } from "vitest";
import { copy, defined, equalJson, omitEmpty, omitZero, setOwn } from "./json.ts";

const withProto = (value: unknown): object => {
  const object = {};
  setOwn(object, "__proto__", value);
  return object;
};

describe("equality", () => {
  const cases: Record<string, { a: unknown; b: unknown; want: boolean }> = {
    "ignores the order of keys": { a: { x: 1, y: 2 }, b: { y: 2, x: 1 }, want: true },
    "treats an undefined field as absent": { a: { x: undefined }, b: {}, want: true },
    "distinguishes null from absent": { a: { x: null }, b: {}, want: false },
    "distinguishes objects with the same number of keys but different names": {
      a: { x: 1, y: undefined },
      b: { x: 1, z: 1 },
      want: false,
    },
    "detects an extra key on one side": { a: { x: 1 }, b: { x: 1, y: 2 }, want: false },
    "does not compare the prototype of an object": { a: withProto(Object.prototype), b: {}, want: false },
    "respects the order of lists": { a: [1, 2], b: [2, 1], want: false },
    "distinguishes a list from an object": { a: [], b: {}, want: false },
    "detects an own key with the name of an inherited property": { a: {}, b: { constructor: "x" }, want: false },
    "detects a __proto__ key": { a: {}, b: withProto(false), want: false },
    "compares the value of a __proto__ key": { a: withProto({ x: 1 }), b: withProto({ x: 1 }), want: true },
  };
  for (const [behaviour, { a, b, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(equalJson(a, b)).toBe(want);
      expect(equalJson(b, a)).toBe(want);
    });
  }
});

test("a copy shares nothing with its original and keeps hostile keys as plain keys", () => {
  const original = { list: [{ x: 1 }], ...withProto({ admin: true }) };

  const result = copy(original);

  expect(result).toEqual(original);
  expect(result.list[0]).not.toBe(original.list[0]);
  expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
});

test("defined keeps every value but undefined; omitZero and omitEmpty omit what Go's omitzero and omitempty omit", () => {
  const given = {
    none: undefined,
    nothing: null,
    text: "",
    count: 0,
    flag: false,
    list: [],
    map: {},
    name: "a",
    names: ["a"],
  };

  expect(Object.entries(defined(given))).toEqual([
    ["nothing", null],
    ["text", ""],
    ["count", 0],
    ["flag", false],
    ["list", []],
    ["map", {}],
    ["name", "a"],
    ["names", ["a"]],
  ]);
  expect(Object.entries(omitZero(given))).toEqual([
    ["list", []],
    ["map", {}],
    ["name", "a"],
    ["names", ["a"]],
  ]);
  expect(Object.entries(omitEmpty(given))).toEqual([
    ["name", "a"],
    ["names", ["a"]],
  ]);
});
