import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze, type Json } from "@flotilla/base";
import { applyMergePatch, createMergePatch, readMergePatch } from "./merge-patch.ts";

const cases: Record<string, [document: Json, patch: Json, want: Json]> = {
  "a value replaces a value": [{ a: "b" }, { a: "c" }, { a: "c" }],
  "a new key is added": [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  "null deletes": [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  "null for an absent key has no effect": [{ a: 1 }, { b: null }, { a: 1 }],
  "a list replaces a list": [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
  "objects merge": [{ a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
  "an object replaces a scalar, without its nulls": [{ a: 1 }, { a: { b: null, c: 2 } }, { a: { c: 2 } }],
  "a new object is added without its nulls": [{}, { a: { b: { c: null } } }, { a: { b: {} } }],
  "a patch that is not an object replaces the document": [{ a: 1 }, [1], [1]],
};
for (const [behaviour, [document, patch, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(applyMergePatch(deepFreeze(document) as Json, deepFreeze(patch) as Json)).toEqual(want);
  });
}

test("parts that the patch does not change are shared", () => {
  const document = { spec: { a: 1 }, status: { b: 2 } };

  const patched = applyMergePatch(document, { spec: { a: 2 } }) as typeof document;

  expect(patched.status).toBe(document.status);
  expect(document.spec.a).toBe(1);
});

test("a patch that changes nothing returns the document itself", () => {
  const document = { a: { b: [1] } };

  expect(applyMergePatch(document, { a: { b: [1] }, c: null })).toBe(document);
});

test("__proto__ in a patch is an ordinary key", () => {
  const patched = applyMergePatch({ a: 1 }, JSON.parse('{"__proto__": {"polluted": true}}') as Json);

  expect(JSON.stringify(patched)).toBe('{"a":1,"__proto__":{"polluted":true}}');
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

/** JSON in which null is never a value, as merge patches can express it. */
const withoutNull = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(
    fc.oneof(fc.constantFrom("a", "b", "__proto__", "constructor"), fc.string({ maxLength: 3 })),
    tie("value"),
    { maxKeys: 4, noNullPrototype: true },
  ),
}));

test("a created patch turns the first document into the second", () => {
  fc.assert(
    fc.property(withoutNull.object, withoutNull.object, (before, after) => {
      expect(applyMergePatch(before, createMergePatch(before, after))).toEqual(after);
    }),
  );
});

test("applying a patch twice is the same as applying it once", () => {
  fc.assert(
    fc.property(withoutNull.object, withoutNull.object, (document, patch) => {
      const once = applyMergePatch(document, patch);

      expect(applyMergePatch(once, patch)).toBe(once);
    }),
  );
});

describe("the body of a merge patch request must be an object", () => {
  const refused: [Json, string][] = [
    [[], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"],
    ["x", "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"],
    [5, "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"],
    [null, "Invalid JSON Patch"],
  ];
  test.each(refused)("%j", (body, message) => {
    expect(() => readMergePatch(body)).toThrow(expect.objectContaining({ message, code: "BadRequest" }));
  });
});
