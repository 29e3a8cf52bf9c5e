/** Properties of structural schemas, on random schemas and random objects. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { deepFreeze, equalJson, isObject, type Json, type JsonObject, defined } from "@flotilla/base";
import type { Schema } from "../schema.ts";
import { compileSchema } from "./structural.ts";

const NAMES = ["a", "b", "c", "__proto__", "toString"];
const name = fc.constantFrom(...NAMES);

/** Schemas as in CRDs: every node has a type, and defaults are values of it. */
const schemas = fc.letrec<{ node: Schema; object: Schema }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.record(
      {
        type: fc.constant("string" as const),
        default: fc.constantFrom("x", ""),
        maxLength: fc.nat(2),
        enum: fc.constant(["x", "y", ""] as Json[]),
      },
      { requiredKeys: ["type"] },
    ),
    fc.record(
      { type: fc.constant("integer" as const), default: fc.nat(3), minimum: fc.nat(2), nullable: fc.boolean() },
      { requiredKeys: ["type"] },
    ),
    fc.record({ type: fc.constant("boolean" as const), nullable: fc.constant(true) }, { requiredKeys: ["type"] }),
    fc.record(
      { type: fc.constant("array" as const), items: tie("node"), maxItems: fc.nat(3) },
      { requiredKeys: ["type", "items"] },
    ),
    fc.record({ type: fc.constant("object" as const), additionalProperties: tie("node") }),
    tie("object"),
  ),
  object: fc.record(
    {
      type: fc.constant("object" as const),
      properties: fc.dictionary(name, tie("node"), { maxKeys: 4, noNullPrototype: true }),
      required: fc.subarray(NAMES, { maxLength: 1 }),
      "x-kubernetes-preserve-unknown-fields": fc.constant(true),
    },
    { requiredKeys: ["type", "properties"] },
  ),
}));
const schema: fc.Arbitrary<Schema> = schemas.object.map((spec) => ({ type: "object", properties: { spec } }));

const values = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ min: -1, max: 4 }),
    fc.constantFrom("x", "y", "long", ""),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc.dictionary(fc.oneof(name, fc.constant("unknown")), tie("value"), { maxKeys: 5, noNullPrototype: true }),
}));
const object = values.object.map((spec): JsonObject => ({ spec }));

/** The same value with the keys of every map reversed. */
function turned(value: Json): Json {
  if (Array.isArray(value)) return value.map(turned);
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, item]) => [key, turned(item)]),
      )
    : value;
}

const problemsOf = (made: Schema, given: JsonObject): string[] => {
  const { values: found = [], duplicates = [] } = compileSchema(made).validate(given) ?? {};
  return [...found, ...duplicates].map(({ field, message }) => `${field}: ${message}`).sort();
};

test("admission does not modify its arguments, and is idempotent", () => {
  fc.assert(
    fc.property(schema, object, (made, given) => {
      const once = compileSchema(made).admit(deepFreeze(given) as JsonObject);

      expect(compileSchema(made).admit(once)).toBe(once);
    }),
    { numRuns: 300 },
  );
});

test("admission and validation do not depend on the order of keys", () => {
  fc.assert(
    fc.property(schema, object, (made, given) => {
      const admitted = compileSchema(made).admit(given);
      const other = compileSchema(made).admit(turned(given) as JsonObject);

      expect(equalJson(other, admitted)).toBe(true);
      expect(problemsOf(made, other)).toEqual(problemsOf(made, admitted));
    }),
    { numRuns: 300 },
  );
});

/** A naive pruning by the schema; `removed` receives the unknown keys. */
function known(made: Schema | undefined, given: Json, removed: string[]): Json {
  // A list in place of a map that preserves unknown fields is kept too.
  if (Array.isArray(given))
    return made?.["x-kubernetes-preserve-unknown-fields"]
      ? given
      : given.map((item) => known(made?.items, item, removed));
  if (!isObject(given)) return given;
  const kept: [string, Json][] = [];
  for (const [key, item] of Object.entries(given)) {
    const below =
      made?.properties && Object.hasOwn(made.properties, key)
        ? made.properties[key]
        : typeof made?.additionalProperties === "object"
          ? made.additionalProperties
          : undefined;
    // A null that is not nullable counts as absent.
    if (below && item === null && below.nullable !== true) continue;
    if (below) kept.push([key, known(below, item, removed)]);
    else if (made?.["x-kubernetes-preserve-unknown-fields"]) kept.push([key, item]);
    else removed.push(key);
  }
  return Object.fromEntries(kept);
}

const withoutDefaults = (made: Schema): Schema => {
  const { default: _default, ...rest } = made;
  return {
    ...rest,
    ...defined({
      properties: made.properties
        ? Object.fromEntries(Object.entries(made.properties).map(([key, below]) => [key, withoutDefaults(below)]))
        : undefined,
      items: made.items ? withoutDefaults(made.items) : undefined,
      additionalProperties:
        typeof made.additionalProperties === "object" ? withoutDefaults(made.additionalProperties) : undefined,
    }),
  };
};

test("without defaults admission only prunes, and reports the removed fields", () => {
  fc.assert(
    fc.property(schema.map(withoutDefaults), object, (made, given) => {
      const unknownFields: string[] = [];
      const removed: string[] = [];
      const admitted = compileSchema(made).admit(given, { unknownFields });

      expect(admitted).toEqual(known(made, given, removed));
      expect(unknownFields).toHaveLength(removed.length);
    }),
    { numRuns: 300 },
  );
});

test("a default is set for an absent field, and never replaces a value", () => {
  fc.assert(
    fc.property(schema, object, (made, given) => {
      const admitted = compileSchema(made).admit(given)["spec"] as JsonObject;
      const spec = given["spec"] as JsonObject;

      for (const [key, below] of Object.entries(made.properties?.["spec"]?.properties ?? {})) {
        const said = Object.hasOwn(spec, key) ? spec[key] : undefined;
        const isSaid = said !== undefined && !(said === null && below.nullable !== true);
        expect(Object.hasOwn(admitted, key)).toBe(isSaid || below.default !== undefined);
        expect(isSaid || below.default === undefined || equalJson(admitted[key], below.default)).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

test("a valid value stays valid, and is skipped when it is settled", () => {
  fc.assert(
    fc.property(schema, object, (made, given) => {
      const admitted = compileSchema(made).admit(given);

      expect(problemsOf(made, admitted)).toEqual(problemsOf(made, JSON.parse(JSON.stringify(admitted)) as JsonObject));
      expect(compileSchema(made).validate(admitted, { settled: admitted })).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});
