import * as fc from "fast-check";
import { expect, test } from "vitest";
import { differenceOf, intersectionOf, isFieldSet, membersOf, unionOf, type FieldSet } from "./field-set.ts";

const paths = fc.uniqueArray(
  fc.array(fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'), { minLength: 1, maxLength: 3 }),
  { maxLength: 6, selector: (path) => path.join("/") },
);

/** The set whose members are these paths. */
function setOf(members: readonly string[][]): FieldSet | undefined {
  return members.reduce<FieldSet | undefined>(
    (set, path) =>
      unionOf(
        set,
        path.reduceRight<FieldSet>((below, element) => ({ [element]: below }), {}),
      ),
    undefined,
  );
}

const listed = (set: FieldSet | undefined): Set<string> => new Set(set ? membersOf(set) : []);
const textOf = (members: readonly string[][]): Set<string> => listed(setOf(members));

test("a set has the members it is built from", () => {
  fc.assert(
    fc.property(paths, (members) => {
      expect(listed(setOf(members)).size).toBe(members.length);
    }),
  );
});

test("union, difference and intersection are those of the members", () => {
  fc.assert(
    fc.property(paths, paths, (left, right) => {
      const [a, b] = [setOf(left), setOf(right)];

      expect(listed(unionOf(a, b))).toEqual(textOf(left).union(textOf(right)));
      expect(listed(differenceOf(a, b))).toEqual(textOf(left).difference(textOf(right)));
      expect(listed(intersectionOf(a, b))).toEqual(textOf(left).intersection(textOf(right)));
    }),
  );
});

test("the empty set is undefined, never an empty node", () => {
  fc.assert(
    fc.property(paths, (members) => {
      expect(differenceOf(setOf(members), setOf(members))).toBeUndefined();
    }),
  );
});

test("a member stays when its children are removed", () => {
  expect(differenceOf({ "f:a": { ".": {}, "f:b": {} } }, { "f:a": { "f:b": {} } })).toEqual({ "f:a": {} });
  expect(differenceOf({ "f:a": { ".": {}, "f:b": {} } }, { "f:a": {} })).toEqual({ "f:a": { "f:b": {} } });
});

test("members are formatted as paths, at each level the members first", () => {
  const set = {
    "f:spec": {
      "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {} } },
      "f:replicas": {},
      "f:set": { 'v:"x"': {} },
      "f:list": { "i:0": {} },
    },
  };

  expect([...membersOf(set)]).toEqual([
    ".spec.replicas",
    ".spec.list[0]",
    '.spec.ports[port=80,protocol="TCP"]',
    '.spec.ports[port=80,protocol="TCP"].name',
    '.spec.set[="x"]',
  ]);
});

const foreign: [value: unknown, want: boolean][] = [
  [{ "f:a": { ".": {}, 'k:{"a":1}': {}, 'v:"x"': {}, "i:3": {} } }, true],
  [{ bad: {} }, false],
  [{ "f:a": 1 }, false],
  [{ "i:x": {} }, false],
  ["x", false],
];
test.each(foreign)("isFieldSet(%j) is correct", (value, want) => {
  expect(isFieldSet(value as FieldSet)).toBe(want);
});

test("a set that is nested too deeply is rejected", () => {
  let deep: FieldSet = {};
  for (let level = 0; level < 1000; level++) deep = { "f:a": deep };

  expect(isFieldSet(deep)).toBe(false);
});
