import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { copy, deepFreeze, equalJson, isObject, type Json, type JsonObject } from "@flotilla/base";
import { shareParts } from "./share-parts.ts";

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

/** A copy with one part, chosen by `at`, replaced. */
function edited(value: Json, at: number, by: Json): Json {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const key = keys[at % (keys.length + 1)];
  if (key === undefined) return by;
  const result = copy(value) as JsonObject;
  Object.defineProperty(result, key, {
    value: edited(result[key] as Json, Math.floor(at / 2), by),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return result;
}

describe("shareParts", () => {
  test("does not change the value, regardless of the known value", () => {
    fc.assert(
      fc.property(json, json, (value, known) => {
        expect(shareParts(deepFreeze(value) as Json, deepFreeze(known) as Json)).toEqual(value);
      }),
    );
  });

  test("shares every equal part of the known value, and keeps the other parts of the value", () => {
    fc.assert(
      fc.property(json, fc.nat(), json, (known, at, by) => {
        const value = edited(known, at, by);

        const result = shareParts(value, known);

        expect(result).toEqual(value);
        const fields =
          isObject(result) && isObject(known)
            ? Object.keys(result).filter((key) => Object.hasOwn(known, key) && equalJson(result[key], known[key]))
            : [];
        for (const key of fields) expect((result as JsonObject)[key]).toBe((known as JsonObject)[key]);
      }),
    );
  });

  test("returns the known value itself when only the order of keys differs", () => {
    const known = { a: [{ b: 1, c: { d: null } }], e: "f" };

    expect(shareParts({ e: "f", a: [{ c: { d: null }, b: 1 }] }, known)).toBe(known);
  });

  test("copies nothing where nothing changes", () => {
    const value = { a: { b: [1, { c: 2 }] }, d: [{ e: 3 }], f: { g: undefined, h: { i: 4 } } };
    const parts = value as unknown as JsonObject;

    const result = shareParts(parts, { d: [{ e: 3 }], f: {} }) as JsonObject;

    expect(result["a"]).toBe(parts["a"]);
    expect((result["f"] as JsonObject)["h"]).toBe((parts["f"] as JsonObject)["h"]);
    expect(shareParts(parts["a"] as Json, undefined)).toBe(parts["a"]);
  });

  test("omits undefined, as JSON does", () => {
    const known = { a: 1 };

    expect(shareParts({ a: 1, b: undefined } as unknown as Json, known)).toBe(known);
    expect(Object.keys(shareParts({ a: undefined } as unknown as Json, known) as JsonObject)).toEqual([]);
    expect(shareParts([undefined, 1] as unknown as Json, [2])).toEqual([null, 1]);
  });

  test("does not treat the prototype as a part", () => {
    const value = JSON.parse('{"__proto__":{},"constructor":{"x":1}}') as Json;

    const result = shareParts(value, { a: 1 }) as JsonObject;

    expect(Object.keys(result)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(result["__proto__"]).not.toBe(Object.prototype);
  });
});
