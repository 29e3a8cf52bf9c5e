import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze, type Json, type JsonObject } from "@flotilla/base";
import type { Schema } from "../schema.ts";
import type { FieldError } from "../field.ts";
import { compileSchema, hasValidationRules, type ValidateOptions } from "./structural.ts";

const errorsOf = (schema: Schema, given: JsonObject, options?: ValidateOptions): FieldError[] => {
  const { values = [], embedded = [], duplicates = [] } = compileSchema(schema).validate(given, options) ?? {};
  return [...values, ...embedded, ...duplicates];
};
const ofSpec = (spec: Schema): Schema => ({ type: "object", properties: { spec } });
const object = (spec: Json, more: JsonObject = {}): JsonObject =>
  deepFreeze({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec, ...more }) as JsonObject;

const widgets = ofSpec({
  type: "object",
  properties: {
    known: { type: "string" },
    list: { type: "array", items: { type: "object", properties: { x: { type: "string" } } } },
    map: { type: "object", additionalProperties: { type: "object", properties: { x: { type: "string" } } } },
    keep: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { known: { type: "object", properties: { x: { type: "string" } } } },
    },
    emb: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
  },
});

describe("pruning", () => {
  test("removes unknown fields and reports their paths, in order of appearance", () => {
    const unknownFields: string[] = [];
    const given = object(
      {
        known: "a",
        junk: 1,
        list: [{ x: "b", y: 1 }],
        map: { k: { x: "c", y: 1 } },
        keep: { other: 1, known: { x: "d", y: 1 } },
        emb: { apiVersion: "v1", kind: "A", metadata: { name: "n", junk: 1 }, spec: { junk: 1 }, junk: 1 },
      },
      { junk: 1 },
    );

    const admitted = compileSchema(widgets).admit(given, { unknownFields });

    expect(admitted["spec"]).toEqual({
      known: "a",
      list: [{ x: "b" }],
      map: { k: { x: "c" } },
      keep: { other: 1, known: { x: "d" } },
      emb: { apiVersion: "v1", kind: "A", metadata: { name: "n" }, spec: {} },
    });
    expect(unknownFields).toEqual([
      "spec.junk",
      "spec.list[0].y",
      "spec.map.k.y",
      "spec.keep.known.y",
      "spec.emb.metadata.junk",
      "spec.emb.spec.junk",
      "spec.emb.junk",
      "junk",
    ]);
  });

  test("keeps apiVersion, kind and known metadata, regardless of the schema", () => {
    const given = object(
      {},
      { metadata: { name: "w", labels: { a: "b" }, ownerReferences: [{ uid: "u", kind: "K", junk: 1 }], junk: 1 } },
    );

    const admitted = compileSchema({
      type: "object",
      properties: { spec: { type: "object" }, metadata: { type: "object" } },
    }).admit(given);

    expect(admitted).toEqual({
      apiVersion: "example.com/v1",
      kind: "Widget",
      spec: {},
      metadata: { name: "w", labels: { a: "b" }, ownerReferences: [{ uid: "u", kind: "K" }] },
    });
  });

  test("returns the same object when nothing changes", () => {
    const given = object({ known: "a", list: [{ x: "b" }], keep: { any: [{ thing: 1 }] } });

    expect(compileSchema(widgets).admit(given)).toBe(given);
  });

  test("treats __proto__ as an unknown field", () => {
    const unknownFields: string[] = [];

    const admitted = compileSchema(widgets).admit(
      JSON.parse('{"spec":{"__proto__":{"polluted":true},"keep":{"__proto__":{"a":1}}}}') as JsonObject,
      { unknownFields },
    );

    expect(JSON.stringify(admitted)).toBe('{"spec":{"keep":{"__proto__":{"a":1}}}}');
    expect(unknownFields).toEqual(["spec.__proto__"]);
  });
});

describe("defaulting", () => {
  const schema = ofSpec({
    type: "object",
    default: {},
    properties: {
      replicas: { type: "integer", default: 1 },
      strategy: {
        type: "object",
        default: { type: "Rolling" },
        properties: { type: { type: "string" }, max: { type: "integer", default: 2 } },
      },
      ports: { type: "array", items: { type: "object", properties: { protocol: { type: "string", default: "TCP" } } } },
      note: { type: "string" },
      nullable: { type: "string", nullable: true, default: "x" },
    },
  });
  const full = { replicas: 1, strategy: { type: "Rolling", max: 2 }, nullable: "x" };
  const cases: Record<string, [spec: Json | undefined, want: JsonObject]> = {
    "sets a missing structure and its defaults": [undefined, full],
    "sets defaults in list items": [
      { ports: [{}, { protocol: "UDP" }] },
      { ...full, ports: [{ protocol: "TCP" }, { protocol: "UDP" }] },
    ],
    "replaces a null that is not nullable": [{ replicas: null }, full],
    "removes a null that is not nullable and has no default": [{ note: null }, full],
    "keeps a nullable null": [{ nullable: null }, { ...full, nullable: null }],
    "keeps given values": [
      { replicas: 0, strategy: {} },
      { ...full, replicas: 0, strategy: { max: 2 } },
    ],
  };
  for (const [behaviour, [spec, want]] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(compileSchema(schema).admit(spec === undefined ? {} : object(spec))["spec"]).toEqual(want);
    });
  }

  test("returns defaults that may be modified without changing the schema", () => {
    const first = compileSchema(schema).admit({})["spec"] as { strategy: { type: string } };

    first.strategy.type = "changed";

    expect(compileSchema(schema).admit({})["spec"]).toEqual(full);
  });
});

test("a recursive schema is walked with the value", () => {
  const node: Schema = { type: "object", properties: { name: { type: "string", default: "n" } } };
  node.properties = { ...node.properties, children: { type: "array", items: node } };

  const admitted = compileSchema(ofSpec(node)).admit({ spec: { children: [{ children: [{ junk: 1 }] }] } });

  expect(admitted).toEqual({ spec: { name: "n", children: [{ name: "n", children: [{ name: "n" }] }] } });
  expect(errorsOf(ofSpec(node), admitted)).toEqual([]);
});

test("compiled schemas are cached by identity", () => {
  expect(compileSchema(widgets)).toBe(compileSchema(widgets));
});

test("structural defaulting and pruning are idempotent", () => {
  const schema = ofSpec({
    type: "object",
    properties: {
      a: { type: "integer", default: 1 },
      b: { type: "array", items: { type: "object", default: {}, properties: { a: { type: "string", default: "x" } } } },
      c: { type: "object", nullable: true, additionalProperties: { type: "string" } },
    },
  });
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), fc.jsonValue(), { noNullPrototype: true }),
      (any, spec) => {
        for (const given of [any, spec]) {
          const once = compileSchema(schema).admit({ spec: given as Json });

          expect(compileSchema(schema).admit(once)).toBe(once);
        }
      },
    ),
  );
});

describe("validation", () => {
  const schema = ofSpec({
    type: "object",
    properties: {
      s: { type: "string", minLength: 2, maxLength: 4, pattern: "^[a-z]+$" },
      e: { type: "string", enum: ["a", "b"] },
      i: { type: "integer", minimum: 1, maximum: 10, multipleOf: 2 },
      x: { type: "number", exclusiveMinimum: true, minimum: 0, exclusiveMaximum: true, maximum: 1 },
      b: { type: "boolean" },
      l: { type: "array", minItems: 1, maxItems: 2, items: { type: "string" } },
      m: { type: "object", minProperties: 1, maxProperties: 2, additionalProperties: { type: "integer" } },
      set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      map: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object", properties: { k: { type: "string" } }, required: ["k"] },
      },
      n: { type: "string", nullable: true },
      ios: { "x-kubernetes-int-or-string": true },
      iosAny: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
      any: { type: "integer", anyOf: [{ maximum: 2 }, { minimum: 8 }] },
      one: { type: "integer", oneOf: [{ maximum: 5 }, { minimum: 3 }] },
      not: { type: "string", not: { enum: ["bad"] } },
      all: { type: "string", allOf: [{ minLength: 2 }, { pattern: "^x" }] },
      i32: { type: "integer", format: "int32" },
      dt: { type: "string", format: "date-time" },
      emb: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      req: { type: "object", required: ["a", "b"], properties: { a: { type: "string" }, b: { type: "string" } } },
    },
  });
  const wrong: Record<string, [spec: JsonObject, ...want: string[]]> = {
    "a string that is too short": [
      { s: "a" },
      'spec.s: Invalid value: "a": spec.s in body should be at least 2 chars long',
    ],
    "a string that is too long": [{ s: "abcde" }, "spec.s: Too long: may not be more than 4 bytes"],
    "a string that does not match the pattern": [
      { s: "A1" },
      `spec.s: Invalid value: "A1": spec.s in body should match '^[a-z]+$'`,
    ],
    "a number for a string": [
      { s: 1 },
      'spec.s: Invalid value: "integer": spec.s in body must be of type string: "integer"',
    ],
    "a value that is not in the enum": [{ e: "z" }, 'spec.e: Unsupported value: "z": supported values: "a", "b"'],
    "a fraction for an integer": [
      { i: 2.5 },
      'spec.i: Invalid value: "number": spec.i in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.i',
      "spec.i: Invalid value: 2.5: spec.i in body should be a multiple of 2",
    ],
    "a number that is too small": [
      { i: 0 },
      "spec.i: Invalid value: 0: spec.i in body should be greater than or equal to 1",
    ],
    "a number that is too large": [
      { i: 12 },
      "spec.i: Invalid value: 12: spec.i in body should be less than or equal to 10",
    ],
    "exclusive limits": [{ x: 0 }, "spec.x: Invalid value: 0: spec.x in body should be greater than 0"],
    "an exclusive upper limit": [{ x: 1 }, "spec.x: Invalid value: 1: spec.x in body should be less than 1"],
    "a string for a boolean": [
      { b: "true" },
      'spec.b: Invalid value: "string": spec.b in body must be of type boolean: "string"',
    ],
    "too few items": [{ l: [] }, "spec.l: Invalid value: 0: spec.l in body should have at least 1 items"],
    "too many items": [{ l: ["a", "b", "c"] }, "spec.l: Too many: 3: must have at most 2 items"],
    "an item of the wrong type": [
      { l: [1] },
      'spec.l[0]: Invalid value: "integer": spec.l[0] in body must be of type string: "integer"',
    ],
    "too few properties": [{ m: {} }, "spec.m: Invalid value: 0: spec.m in body should have at least 1 properties"],
    "a duplicate in a set": [{ set: ["a", "b", "a"] }, 'spec.set[2]: Duplicate value: "a"'],
    "a duplicate key in a map list": [
      { map: [{ k: "a" }, { k: "b" }, { k: "a" }] },
      'spec.map[2]: Duplicate value: {"k":"a"}',
    ],
    "a missing key in a map list": [{ map: [{}] }, "spec.map[0].k: Required value"],
    "a null that is not nullable": [
      { s: null },
      'spec.s: Invalid value: "null": spec.s in body must be of type string: "null"',
    ],
    "a boolean for int-or-string": [
      { ios: true },
      'spec.ios: Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean"',
    ],
    "a boolean for int-or-string with its types spelled out": [
      { iosAny: true },
      'spec.iosAny: Invalid value: "boolean": spec.iosAny in body must be of type integer,string: "boolean"',
      '<nil>: Invalid value: "": "spec.iosAny" must validate at least one schema (anyOf)',
      'spec.iosAny: Invalid value: "boolean": spec.iosAny in body must be of type integer: "boolean"',
    ],
    "none of anyOf": [
      { any: 5 },
      '<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf)',
      "spec.any: Invalid value: 5: spec.any in body should be less than or equal to 2",
    ],
    "two of oneOf": [
      { one: 4 },
      '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
    "a value that not forbids": [
      { not: "bad" },
      '<nil>: Invalid value: "": "spec.not" must not validate the schema (not)',
    ],
    "none of allOf": [
      { all: "y" },
      'spec.all: Invalid value: "y": spec.all in body should be at least 2 chars long',
      `spec.all: Invalid value: "y": spec.all in body should match '^x'`,
      '<nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf). None validated',
    ],
    "an integer out of range for its format": [
      { i32: 2 ** 31 },
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.i32',
    ],
    "a month that does not exist": [
      { dt: "2024-13-01T00:00:00Z" },
      'spec.dt: Invalid value: "2024-13-01T00:00:00Z": spec.dt in body must be of type date-time: "2024-13-01T00:00:00Z"',
    ],
    "an embedded object without a kind": [
      { emb: { metadata: {} } },
      "spec.emb.apiVersion: Required value",
      "spec.emb.kind: Required value",
    ],
    "missing fields": [{ req: {} }, "spec.req.a: Required value", "spec.req.b: Required value"],
  };
  for (const [behaviour, [spec, ...want]] of Object.entries(wrong)) {
    test(`reports ${behaviour}`, () => {
      expect(errorsOf(schema, object(spec)).map(({ field, message }) => `${field}: ${message}`)).toEqual(want);
    });
  }

  test("reports nothing for a valid object", () => {
    const spec = {
      s: "ab",
      e: "a",
      i: 4,
      x: 0.5,
      b: true,
      l: ["a"],
      m: { a: 1 },
      set: ["a", "b"],
      n: null,
      ios: "50%",
      any: 9,
      one: 2,
      not: "good",
      all: "xy",
      i32: -5,
    };

    expect(errorsOf(schema, object(spec))).toEqual([]);
  });

  test("counts characters and not bytes", () => {
    expect(errorsOf(ofSpec({ type: "string", maxLength: 2, minLength: 2 }), object("😀😀"))).toEqual([]);
  });

  test("limits the number of errors", () => {
    const many = errorsOf(
      ofSpec({ type: "array", items: { type: "string" } }),
      object(Array.from({ length: 10_000 }, () => 1)),
    );

    expect(many).toHaveLength(100);
  });
});

test("validation rules are found at any depth", () => {
  const schema = ofSpec({
    type: "array",
    items: { type: "object", properties: { a: { type: "string", "x-kubernetes-validations": [{ rule: "true" }] } } },
  });

  expect(hasValidationRules(schema)).toBe(true);
  expect(hasValidationRules(widgets)).toBe(false);
});

describe("an update of an object that is no longer valid", () => {
  const schema = ofSpec({
    type: "object",
    properties: {
      text: { type: "string", maxLength: 2 },
      list: { type: "array", items: { type: "string", maxLength: 2 } },
      keyed: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object", properties: { k: { type: "string" }, v: { type: "string", maxLength: 2 } } },
      },
      map: { type: "object", additionalProperties: { type: "string", maxLength: 2 } },
      set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    },
  });
  const old = {
    text: "long",
    list: ["long"],
    keyed: [
      { k: "a", v: "long" },
      { k: "b", v: "long" },
    ],
    map: { a: "long" },
    set: ["a", "a"],
  };
  const cases: Record<string, [change: JsonObject, fields: string[]]> = {
    "passes when nothing changes": [{}, []],
    "is rejected for the parts it changes": [{ text: "longer" }, ["spec.text"]],
    "is rejected for every element of a changed list without keys, since they cannot be correlated": [
      { list: ["long", "x"] },
      ["spec.list[0]"],
    ],
    "is accepted for keyed elements at any position": [
      {
        keyed: [
          { k: "b", v: "long" },
          { k: "c", v: "long" },
        ],
      },
      ["spec.keyed[1].v"],
    ],
    "is accepted for map keys": [{ map: { a: "long", b: "long" } }, ["spec.map.b"]],
    "is accepted for duplicates that already existed": [{ set: ["a", "a", "b", "b"] }, []],
  };
  for (const [behaviour, [change, fields]] of Object.entries(cases)) {
    test(behaviour, () => {
      const found = errorsOf(schema, object({ ...old, ...change }), { oldObject: object(old) });

      expect(found.map(({ field }) => field)).toEqual(fields);
    });
  }
});

describe("pruning edge cases", () => {
  const schema = ofSpec({
    type: "object",
    properties: {
      text: { type: "string" },
      anything: { type: "object", additionalProperties: true },
      kept: {
        type: "array",
        "x-kubernetes-preserve-unknown-fields": true,
        items: { type: "object", properties: { a: { type: "object" } } },
      },
    },
  });
  const cases: Record<string, [spec: JsonObject, want: JsonObject, unknown: string[]]> = {
    "empties an object in place of a string": [{ text: { a: 1 } }, { text: {} }, ["spec.text.a"]],
    "keeps the strings of a map with any values, and empties its objects": [
      { anything: { a: 1, b: { c: 1 }, d: [{ e: 1 }] } },
      { anything: { a: 1, b: {}, d: [{}] } },
      ["spec.anything.b.c", "spec.anything.d[0].e"],
    ],
    "keeps unknown fields in the elements of a preserving list": [
      { kept: [{ a: { b: 1 }, c: 1 }] },
      { kept: [{ a: {}, c: 1 }] },
      ["spec.kept[0].a.b"],
    ],
  };
  for (const [behaviour, [spec, want, unknown]] of Object.entries(cases)) {
    test(behaviour, () => {
      const unknownFields: string[] = [];

      const admitted = compileSchema(schema).admit(object(spec), { unknownFields });

      expect(admitted["spec"]).toEqual(want);
      expect(unknownFields).toEqual(unknown);
    });
  }
});

test("messages for the status alone name paths relative to the status", () => {
  const schema: Schema = {
    type: "object",
    properties: { status: { type: "object", properties: { phase: { type: "string" } } } },
  };

  const found = errorsOf(schema, object({}, { status: { phase: 1 } }), { part: "status" });

  expect(found).toEqual([
    {
      type: "TypeInvalid",
      field: "status.phase",
      message: 'Invalid value: "integer": phase in body must be of type string: "integer"',
    },
  ]);
});

test("alternatives that multiply with the values of an object are not tried without end", () => {
  const anyOf = [...Array.from({ length: 999 }, (_, index) => ({ required: [`f${index}`] })), {}];
  const schema = ofSpec({ type: "object", properties: { list: { type: "array", items: { type: "object", anyOf } } } });
  const list = (length: number): JsonObject[] => Array.from({ length }, () => ({}));

  const few = errorsOf(schema, object({ list: list(10) }));
  const many = errorsOf(schema, object({ list: list(300) }));

  expect(few).toEqual([]);
  expect(many.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /spec\.list\[50\] in body cannot be checked: the alternatives .* are tried more than 50000 times/,
    ),
  ]);
});

describe("patterns that exceed the step limit", () => {
  const slow = "^[ab]*a[ab]{900}$";
  const long = "ab".repeat(100_000);
  const tooMuch = (field: string, shown: string): FieldError => ({
    type: "Invalid",
    field,
    message: `Invalid value: "${shown}": ${field} in body cannot be checked: matching the patterns of this object takes more than 20000000 steps`,
  });
  const shown = `${"ab".repeat(50)}...`;

  test("are an error of the field", () => {
    const schema = ofSpec({ type: "object", properties: { s: { type: "string", pattern: slow } } });

    expect(errorsOf(schema, object({ s: long }))).toEqual([tooMuch("spec.s", shown)]);
  });

  test("are an error even inside a not", () => {
    const schema = ofSpec({
      type: "object",
      properties: {
        s: { type: "string", not: { pattern: slow } },
        t: { type: "string", anyOf: [{ pattern: slow }, { minLength: 1 }] },
      },
    });

    expect(errorsOf(schema, object({ s: long }))).toEqual([tooMuch("spec.s", shown)]);
    expect(errorsOf(schema, object({ t: long }))).toEqual([tooMuch("spec.t", shown)]);
  });

  test("share one limit for all strings of an object", () => {
    const schema = ofSpec({
      type: "object",
      properties: { list: { type: "array", items: { type: "string", pattern: "^[ab]*a[ab]{900}" } } },
    });
    const list = Array.from({ length: 1000 }, () => `${"b".repeat(200)}${"a".repeat(800)}`);

    const errors = errorsOf(schema, object({ list }));

    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toMatch(
      /cannot be checked: matching the patterns of this object takes more than 20000000 steps$/,
    );
  });

  test("do not reject an update that leaves the string unchanged", () => {
    const schema = ofSpec({
      type: "object",
      properties: { s: { type: "string", pattern: slow }, n: { type: "integer" } },
    });
    const oldObject = object({ s: long, n: 1 });

    expect(errorsOf(schema, object({ s: long, n: 2 }), { oldObject })).toEqual([]);
  });
});
