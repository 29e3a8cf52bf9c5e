/** Properties of the three patch types, compared with trivial reference implementations. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze, isObject, type Json, type JsonObject, defined } from "@flotilla/base";
import { applyJsonPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import type { Schema } from "../schema.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const key = fc.constantFrom("a", "b", "c", "__proto__", "toString", "");
const document = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ min: 0, max: 3 }),
    fc.constantFrom("x", ""),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
}));
/** A copy that shares nothing. */
const copyOf = <T extends Json>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe("merge patch", () => {
  /** RFC 7386's pseudocode. */
  function reference(target: Json, patch: Json): Json {
    if (!isObject(patch)) return patch;
    const result = new Map(Object.entries(isObject(target) ? target : {}));
    for (const [name, value] of Object.entries(patch)) {
      if (value === null) result.delete(name);
      else result.set(name, reference(result.get(name) ?? null, value));
    }
    return Object.fromEntries(result);
  }

  test("matches RFC 7386, and does not modify its arguments", () => {
    fc.assert(
      fc.property(document.value, document.value, (given, patch) => {
        const want = reference(given, patch);

        expect(applyMergePatch(deepFreeze(given) as Json, deepFreeze(patch) as Json)).toEqual(want);
      }),
      { numRuns: 500 },
    );
  });

  test("merge patch of a merged patch equals applying both patches in sequence", () => {
    const scalar = fc.constantFrom<Json>("x", 1, null, true);
    const flat = fc.dictionary(key, fc.oneof(scalar, fc.dictionary(key, scalar, { noNullPrototype: true })), {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(flat.map(withoutNull), flat.map(withoutNull), flat, (given, first, second) => {
        // Without nulls in the first, the two can be combined.
        const both = applyMergePatch(applyMergePatch(given, first), second);

        expect(applyMergePatch(both, second)).toEqual(both);
        expect(applyMergePatch(both, {})).toBe(both);
      }),
    );
  });

  const withoutNull = (value: Json): Json => applyMergePatch({}, value);
});

describe("JSON patch", () => {
  const pointerOf = (path: readonly (string | number)[]): string =>
    path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

  /** Every path in a document. */
  function placesIn(value: Json, path: readonly (string | number)[] = []): (string | number)[][] {
    const below = Array.isArray(value)
      ? value.map((item, index) => placesIn(item, [...path, index]))
      : isObject(value)
        ? Object.entries(value).map(([name, item]) => placesIn(item, [...path, name]))
        : [];
    return [[...path], ...below.flat()];
  }
  const at = (value: Json, path: readonly (string | number)[]): Json =>
    path.reduce<Json>((part, step) => (part as Record<string | number, Json>)[step] as Json, value);
  const place = document.object
    .filter((given) => Object.keys(given as object).length > 0)
    .chain((given) => fc.record({ given: fc.constant(given), path: fc.constantFrom(...placesIn(given).slice(1)) }));

  test("passes a test of every existing value, and of no other", () => {
    fc.assert(
      fc.property(place, document.value, ({ given, path }, other) => {
        const value = at(given, path);
        fc.pre(JSON.stringify(sorted(value)) !== JSON.stringify(sorted(other)));

        expect(applyJsonPatch(given, [{ op: "test", path: pointerOf(path), value: copyOf(value) }])).toEqual(given);
        expect(() => applyJsonPatch(given, [{ op: "test", path: pointerOf(path), value: other }])).toThrow(
          "the server rejected our request",
        );
      }),
      { numRuns: 300 },
    );
  });

  test("removes a value that can be added again", () => {
    fc.assert(
      fc.property(place, ({ given, path }) => {
        const value = copyOf(at(given, path));
        const removed = applyJsonPatch(deepFreeze(copyOf(given)) as Json, [{ op: "remove", path: pointerOf(path) }]);

        expect(placesIn(removed).length).toBeLessThan(placesIn(given).length);
        expect(applyJsonPatch(removed, [{ op: "add", path: pointerOf(path), value }])).toEqual(given);
      }),
      { numRuns: 300 },
    );
  });

  test("move equals copy and remove, and copies are independent of each other", () => {
    fc.assert(
      fc.property(place, fc.constantFrom("a", "d"), ({ given, path }, target) => {
        fc.pre(path[0] !== target);
        const from = pointerOf(path);
        const moved = applyJsonPatch(given, [{ op: "move", from, path: `/${target}` }]);

        expect(moved).toEqual(
          applyJsonPatch(given, [
            { op: "copy", from, path: `/${target}` },
            { op: "remove", path: from },
          ]),
        );
        const inside: Json[] = isObject(at(given, path)) ? [{ op: "add", path: `/${target}/new`, value: 1 }] : [];
        expect(at(applyJsonPatch(given, [{ op: "copy", from, path: `/${target}` }, ...inside]), path)).toEqual(
          at(given, path),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("replace equals remove and add", () => {
    fc.assert(
      fc.property(place, document.value, ({ given, path }, value) => {
        const replaced = applyJsonPatch(given, [{ op: "replace", path: pointerOf(path), value }]);

        expect(at(replaced, path)).toEqual(value);
        expect(replaced).toEqual(
          applyJsonPatch(given, [
            { op: "remove", path: pointerOf(path) },
            { op: "add", path: pointerOf(path), value },
          ]),
        );
      }),
      { numRuns: 300 },
    );
  });
});

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  return isObject(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((name) => [name, sorted(value[name] as Json)]),
      )
    : value;
}

describe("strategic merge patch", () => {
  const text: Schema = { type: "string" };
  const item: Schema = {
    type: "object",
    properties: { name: text, image: text, args: { type: "array", items: text } },
  };
  const schema: Schema = {
    type: "object",
    properties: {
      items: {
        type: "array",
        items: item,
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "name",
      },
      tags: { type: "array", items: text, "x-kubernetes-patch-strategy": "merge" },
      words: { type: "array", items: text },
      map: { type: "object", additionalProperties: text },
    },
  };
  const word = fc.constantFrom("x", "y", "z");
  const named = (value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> =>
    fc.record(
      { name: fc.constantFrom("a", "b", "c", "d"), image: value, args: fc.array(word, { minLength: 1, maxLength: 2 }) },
      { requiredKeys: ["name"], noNullPrototype: true },
    );
  const objectOf = (value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> =>
    fc.record(
      {
        items: fc.uniqueArray(named(value), { selector: ({ name }) => name, minLength: 1, maxLength: 4 }),
        tags: fc.uniqueArray(word, { minLength: 1 }),
        words: fc.array(word, { maxLength: 3 }),
        map: fc.dictionary(fc.constantFrom("k", "l", "__proto__"), value, { noNullPrototype: true }),
      },
      { requiredKeys: [], noNullPrototype: true },
    );
  const live = objectOf(word);
  const patch = objectOf(fc.oneof(word, fc.constant(null)));

  /** A naive merge by name that ignores the order of lists. */
  function reference(before: JsonObject, change: JsonObject): JsonObject {
    const result = new Map(Object.entries(before));
    for (const [name, value] of Object.entries(change)) {
      const old = result.get(name);
      if (value === null) result.delete(name);
      else if (name === "items") result.set(name, mergeItems((old ?? []) as JsonObject[], value as JsonObject[]));
      else if (name === "tags") result.set(name, [...new Set([...((old ?? []) as string[]), ...(value as string[])])]);
      else if (isObject(value)) result.set(name, reference(isObject(old) ? old : {}, value));
      else result.set(name, value);
    }
    return Object.fromEntries(result);
  }
  function mergeItems(before: readonly JsonObject[], change: readonly JsonObject[]): Json[] {
    const names = new Set([...before, ...change].map(({ name }) => name));
    return [...names].map((name) =>
      reference(before.find((one) => one["name"] === name) ?? {}, change.find((one) => one["name"] === name) ?? {}),
    );
  }
  const unordered = (object: JsonObject): JsonObject => ({
    ...object,
    ...defined({
      items: object["items"] !== undefined ? byText(object["items"]) : undefined,
      tags: object["tags"] !== undefined ? byText(object["tags"]) : undefined,
    }),
  });
  const byText = (list: Json): Json =>
    (list as Json[]).toSorted((a, b) => (JSON.stringify(sorted(a)) < JSON.stringify(sorted(b)) ? -1 : 1));
  const namesIn = (object: JsonObject): unknown[] => ((object["items"] ?? []) as JsonObject[]).map(({ name }) => name);

  test("merges maps by key, lists of maps by name and sets by value, and does not modify its arguments", () => {
    fc.assert(
      fc.property(live, patch, (before, change) => {
        const patched = applyStrategicMergePatch(
          deepFreeze(before) as JsonObject,
          deepFreeze(change) as JsonObject,
          schema,
        );

        expect(unordered(patched)).toEqual(unordered(reference(before, change)));
      }),
      { numRuns: 500 },
    );
  });

  test("strategic merge patch without directives is idempotent", () => {
    fc.assert(
      fc.property(live, patch, (before, change) => {
        const once = applyStrategicMergePatch(before, change, schema);

        expect(applyStrategicMergePatch(once, change, schema)).toEqual(once);
      }),
      { numRuns: 300 },
    );
  });

  test("keeps the order of the patch and of the items it does not name", () => {
    fc.assert(
      fc.property(live, patch, (before, change) => {
        const names = namesIn(applyStrategicMergePatch(before, change, schema));
        const stated = new Set(namesIn(change));

        expect(names.filter((name) => stated.has(name))).toEqual(namesIn(change));
        expect(names.filter((name) => !stated.has(name))).toEqual(namesIn(before).filter((name) => !stated.has(name)));
      }),
    );
  });

  test("deletes only the item that a directive names; replace keeps nothing of the original", () => {
    fc.assert(
      fc.property(live, fc.constantFrom("a", "b"), patch, (before, name, change) => {
        fc.pre(before["items"] !== undefined);
        const deleted = applyStrategicMergePatch(before, { items: [{ name, $patch: "delete" }] }, schema);
        const items = (change["items"] ?? []) as Json[];
        const replaced = applyStrategicMergePatch(before, { items: [...items, { $patch: "replace" }] }, schema);

        expect(deleted["items"]).toEqual((before["items"] as JsonObject[]).filter((one) => one["name"] !== name));
        expect(namesIn(replaced)).toEqual(namesIn(change));
        expect(applyStrategicMergePatch({ map: { k: "x" } }, { map: { $patch: "replace", l: "y" } }, schema)).toEqual({
          map: { l: "y" },
        });
      }),
    );
  });

  test("orders a list as a directive specifies", () => {
    fc.assert(
      fc.property(live, fc.shuffledSubarray(["a", "b", "c", "d"], { minLength: 4 }), (before, order) => {
        fc.pre(before["items"] !== undefined);
        const patched = applyStrategicMergePatch(
          before,
          { "$setElementOrder/items": order.map((name) => ({ name })) },
          schema,
        );

        expect(namesIn(patched)).toEqual(order.filter((name) => namesIn(before).includes(name)));
        expect(byText(patched["items"] as Json)).toEqual(byText(before["items"]));
      }),
    );
  });

  test("removes the values that a directive names from a set", () => {
    fc.assert(
      fc.property(live, fc.uniqueArray(word), (before, gone) => {
        fc.pre(before["tags"] !== undefined);
        const patched = applyStrategicMergePatch(before, { "$deleteFromPrimitiveList/tags": gone }, schema);

        expect(patched["tags"]).toEqual(
          (before["tags"] as string[]).filter((tag) => !(gone as string[]).includes(tag)),
        );
      }),
    );
  });

  test("keeps only the retained keys of a map", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("k", "l", "m"), word, { noNullPrototype: true }),
        fc.subarray(["k", "l", "m"]),
        (map, retained) => {
          const patched = applyStrategicMergePatch({ map }, { map: { $retainKeys: retained } }, schema);

          expect(Object.keys(patched["map"] as JsonObject).sort()).toEqual(
            retained.filter((name) => Object.hasOwn(map, name)),
          );
        },
      ),
    );
  });
});
