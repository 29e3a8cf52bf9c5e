/** JSON paths on random documents, compared with a trivial evaluation. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isObject, type Json } from "@flotilla/base";
import { compileJsonPath } from "./json-path.ts";

const NAMES = ["a", "b", "c.d", "__proto__", "toString"];
const name = fc.constantFrom(...NAMES);
const documents = fc.letrec<{ value: Json; object: Json; list: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.integer({ min: 0, max: 3 }),
    fc.constantFrom("x", "y"),
    fc.boolean(),
    tie("object"),
    tie("object"),
    tie("list"),
  ),
  object: fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  list: fc.array(tie("value"), { maxLength: 4 }),
}));

/** A step: its text, and its result. Undefined fails the whole path. */
interface Step {
  text: string;
  find(values: readonly Json[]): Json[] | undefined;
}

const childrenOf = (value: Json): Json[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
const withAllBelow = (value: Json): Json[] => [
  ...(childrenOf(value).length > 0 || (typeof value === "string" && value !== "") ? [value] : []),
  ...childrenOf(value).flatMap(withAllBelow),
];
const fieldIn = (value: Json, key: string): Json[] =>
  isObject(value) && Object.hasOwn(value, key) ? [value[key] as Json] : [];
const onLists = (values: readonly Json[], find: (list: Json[]) => Json[] | undefined): Json[] | undefined => {
  const found = values.map((value) => (Array.isArray(value) ? find(value) : undefined));
  return found.includes(undefined) ? undefined : found.flatMap((part) => part ?? []);
};

const step: fc.Arbitrary<Step> = fc.oneof(
  name.chain((key) =>
    fc
      .constantFrom(`.${key.replaceAll(".", "\\.")}`, `['${key.replaceAll(".", "\\.")}']`)
      .map((text): Step => ({ text, find: (values) => values.flatMap((value) => fieldIn(value, key)) })),
  ),
  fc.constant<Step>({ text: ".*", find: (values) => values.flatMap(childrenOf) }),
  fc.constant<Step>({ text: "[*]", find: (values) => onLists(values, (list) => list) }),
  fc.integer({ min: -3, max: 3 }).map((at): Step => ({
    text: `[${at}]`,
    find: (values) =>
      onLists(values, (list) =>
        at < list.length && at >= -list.length ? list.slice(at, at === -1 ? undefined : at + 1) : undefined,
      ),
  })),
  fc.constantFrom("a", "b").map((key): Step => ({
    text: `..${key}`,
    find: (values) => values.flatMap(withAllBelow).flatMap((value) => fieldIn(value, key)),
  })),
  fc.record({ key: fc.constantFrom("a", "b"), value: fc.constantFrom("x", "y") }).map(({ key, value }): Step => ({
    text: `[?(@.${key}=="${value}")]`,
    find: (values) =>
      onLists(values, (list) => {
        const compared = list.flatMap((item) => fieldIn(item, key).map((found) => ({ item, found })));
        return compared.some(({ found }) => typeof found !== "string")
          ? undefined
          : compared.filter(({ found }) => found === value).map(({ item }) => item);
      }),
  })),
  fc.constantFrom("a", "b").map((key): Step => ({
    text: `[?(@.${key})]`,
    find: (values) => onLists(values, (list) => list.filter((item) => fieldIn(item, key).length > 0)),
  })),
);

test("a path finds the results of its steps in sequence", () => {
  fc.assert(
    fc.property(documents.value, fc.array(step, { minLength: 1, maxLength: 4 }), (document, steps) => {
      const path = steps.map(({ text }) => text).join("");
      const want = steps.reduce<Json[] | undefined>((values, { find }) => values && find(values), [document]);

      expect(compileJsonPath(path)(document), path).toEqual(want ?? []);
      expect(compileJsonPath(`{$${path}}`)(document)).toEqual(want ?? []);
    }),
    { numRuns: 1500 },
  );
});

test("a range inside the list selects its slice", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(9), { minLength: 1, maxLength: 6 }),
      fc.nat(5),
      fc.nat(6),
      fc.integer({ min: 1, max: 3 }),
      (list, from, to, stride) => {
        fc.pre(from < to && to <= list.length);

        expect(compileJsonPath(`.l[${from}:${to}:${stride}]`)({ l: list })).toEqual(
          list.slice(from, to).filter((_, index) => index % stride === 0),
        );
        expect(compileJsonPath(`.l[${from - list.length}:${to}]`)({ l: list })).toEqual(list.slice(from, to));
      },
    ),
  );
});

test("any string is a path or a bad request, and every result is JSON", () => {
  const piece = fc.constantFrom(
    ".",
    "..",
    "[",
    "]",
    "*",
    "a",
    "toString",
    "__proto__",
    "'",
    '"',
    "\\",
    "?(",
    ")",
    "@",
    "$",
    "==",
    "<",
    "0",
    "-1",
    ":",
    ",",
    " ",
    "{",
    "}",
    "\n",
    "é",
    "true",
    "1.5",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), documents.value, (pieces, document) => {
      const found = valuesOrCode(pieces.join(""), document);

      expect(
        Array.isArray(found) ? found.every((value) => value !== undefined && typeof value !== "function") : found,
      ).toBeOneOf([true, "BadRequest"]);
    }),
    { numRuns: 2000 },
  );
});

function valuesOrCode(path: string, document: Json): unknown {
  try {
    return compileJsonPath(path)(document);
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
}
