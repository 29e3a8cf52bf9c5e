import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze, type Json } from "@flotilla/base";
import { applyJsonPatch } from "./json-patch.ts";

const applied: Record<string, [document: Json, operations: Json, want: Json]> = {
  "add sets a key": [{ a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  "add inserts into a list": [{ l: [1, 3] }, [{ op: "add", path: "/l/1", value: 2 }], { l: [1, 2, 3] }],
  "add at - appends": [{ l: [1] }, [{ op: "add", path: "/l/-", value: 2 }], { l: [1, 2] }],
  "add of null keeps a null": [{ a: 1 }, [{ op: "add", path: "/a", value: null }], { a: null }],
  "remove deletes a key": [{ a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
  "index -1 is the last element": [{ l: [1, 2] }, [{ op: "remove", path: "/l/-1" }], { l: [1] }],
  "leading zeros are accepted": [{ l: [1, 2] }, [{ op: "replace", path: "/l/01", value: 5 }], { l: [1, 5] }],
  "replace of a missing key adds it": [{}, [{ op: "replace", path: "/a", value: 1 }], { a: 1 }],
  "move moves a value": [{ a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/c" }], { a: {}, c: 1 }],
  "copy leaves the source unchanged when the copy changes": [
    { a: { b: 1 } },
    [
      { op: "copy", from: "/a", path: "/c" },
      { op: "replace", path: "/c/b", value: 2 },
    ],
    { a: { b: 1 }, c: { b: 2 } },
  ],
  "test passes on an equal value": [
    { a: { b: [1] } },
    [{ op: "test", path: "/a", value: { b: [1] } }],
    { a: { b: [1] } },
  ],
  "test of a missing key against null passes": [{}, [{ op: "test", path: "/a", value: null }], {}],
  "~1 and ~0 escape slash and tilde": [{}, [{ op: "add", path: "/a~1b~0c", value: 1 }], { "a/b~c": 1 }],
  "an empty path addresses the whole document": [{ a: 1 }, [{ op: "replace", path: "", value: [2] }], [2]],
  "null as a patch changes nothing": [{ a: 1 }, null, { a: 1 }],
};
for (const [behaviour, [document, operations, want]] of Object.entries(applied)) {
  test(behaviour, () => {
    expect(applyJsonPatch(deepFreeze(document) as Json, deepFreeze(operations) as Json)).toEqual(want);
  });
}

describe("an operation that does not fit the document is 422 with the generic message", () => {
  const refused: Record<string, Json> = {
    "a failing test": [{ op: "test", path: "/a", value: 2 }],
    "an index past the end": [{ op: "remove", path: "/l/9" }],
    "a missing key": [{ op: "remove", path: "/b" }],
    "a path through a scalar": [{ op: "add", path: "/a/b", value: 1 }],
    "an unknown operation": [{ op: "merge", path: "/a", value: 1 }],
    "an absent operation": [{}],
    "an absent path": [{ op: "add", value: 1 }],
    "adding the whole document": [{ op: "add", path: "", value: {} }],
    "a document that is not a container": [{ op: "replace", path: "", value: 5 }],
    "a move into itself": [{ op: "move", from: "/o", path: "/o/p" }],
    "a key of Object.prototype": [{ op: "remove", path: "/constructor" }],
  };
  for (const [behaviour, operations] of Object.entries(refused)) {
    test(behaviour, () => {
      expect(() => applyJsonPatch({ a: 1, l: [1], o: {} }, operations)).toThrow(
        expect.objectContaining({
          message: "the server rejected our request due to an error in our request",
          status: expect.objectContaining({ code: 422, reason: "Invalid" }) as unknown,
        }),
      );
    });
  }
});

describe("a patch that is not a list of operations is a bad request", () => {
  const malformed: [Json, string][] = [
    [{}, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"],
    ["x", "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp"],
    [[1], "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"],
  ];
  test.each(malformed)("%j", (operations, message) => {
    expect(() => applyJsonPatch({}, operations)).toThrow(expect.objectContaining({ message, code: "BadRequest" }));
  });
});

test("more than 10 000 operations are rejected as too large", () => {
  const operations = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/a", value: 1 }));

  expect(() => applyJsonPatch({ a: 1 }, operations)).toThrow(
    expect.objectContaining({
      message: "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
      code: "RequestEntityTooLarge",
    }),
  );
});

test("copies that double the document are limited", () => {
  const operations = Array.from({ length: 40 }, (_, index) => ({ op: "copy", from: "/a", path: `/a/c${index}` }));

  expect(() => applyJsonPatch({ a: { text: "x".repeat(1000) } }, operations)).toThrow(
    "the server rejected our request",
  );
});

test("__proto__ in a path is an ordinary key", () => {
  const patched = applyJsonPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]);

  expect(JSON.stringify(patched)).toBe('{"__proto__":{"polluted":true}}');
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("removing an added value restores the document", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
      fc.string(),
      fc.jsonValue(),
      (document, key, value) => {
        fc.pre(!Object.hasOwn(document, key));
        const path = `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

        const result = applyJsonPatch(document as Json, [
          { op: "add", path, value: value as Json },
          { op: "remove", path },
        ]);

        expect(result).toEqual(document);
      },
    ),
  );
});

test("the whole document cannot be copied", () => {
  expect(() => applyJsonPatch({ a: 1 }, [{ op: "copy", from: "", path: "/b" }])).toThrow(
    "the server rejected our request",
  );
});

test("an element can be moved into the one after it", () => {
  expect(applyJsonPatch({ a: [{ x: 1 }, { y: 2 }] }, [{ op: "move", from: "/a/0", path: "/a/0/z" }])).toEqual({
    a: [{ y: 2, z: { x: 1 } }],
  });
});

test("text before the first slash of a path is ignored", () => {
  expect(applyJsonPatch({}, [{ op: "add", path: "here/a", value: 1 }])).toEqual({ a: 1 });
});

test("an absent value or source is null", () => {
  expect(
    applyJsonPatch({ a: 1 }, [
      { op: "add", path: "/b" },
      { op: "copy", from: "/nope", path: "/c" },
    ]),
  ).toEqual({ a: 1, b: null, c: null });
});

test("an operation with non-string parts cannot be decoded", () => {
  expect(() => applyJsonPatch({}, [{ op: 5, path: "/a" }])).toThrow(
    "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
  );
});
