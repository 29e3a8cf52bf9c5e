import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { checkSchema } from "./schema-rules.ts";
import { checkStructural, unsupportedPart } from "./structural-rules.ts";

const problems = (schema: JsonObject): string[] =>
  [...(unsupportedPart(schema) === undefined ? checkStructural("#", schema) : []), ...checkSchema("#", schema)].map(
    ({ field, message }) => `${field}: ${message}`,
  );
const withField = (field: JsonObject): JsonObject => ({ type: "object", properties: { a: field } });

const accepted: Record<string, JsonObject> = {
  "every level has a type": withField({
    type: "object",
    additionalProperties: { type: "array", items: { type: "string" } },
  }),
  "unknown fields are preserved": withField({ "x-kubernetes-preserve-unknown-fields": true }),
  "a field is int-or-string": withField({
    "x-kubernetes-int-or-string": true,
    anyOf: [{ type: "integer" }, { type: "string" }],
  }),
  "anyOf, oneOf, allOf and not only narrow values": withField({
    type: "object",
    properties: { x: { type: "integer" } },
    oneOf: [{ required: ["x"] }, { properties: { x: { minimum: 3 } } }],
  }),
};
for (const [behaviour, schema] of Object.entries(accepted)) {
  test(`a schema is structural when ${behaviour}`, () => {
    expect(problems(schema)).toEqual([]);
  });
}

const refused: Record<string, [schema: JsonObject, want: string[]]> = {
  "a root without a type": [{}, ["#.type: Required value: must not be empty at the root"]],
  "a field without a type": [
    withField({}),
    ["#.properties[a].type: Required value: must not be empty for specified object fields"],
  ],
  "a type inside anyOf": [
    withField({ type: "string", anyOf: [{ type: "string" }] }),
    ["#.properties[a].anyOf[0].type: Forbidden: must be empty to be structural"],
  ],
  "a root anyOf that names properties declared nowhere else": [
    { type: "object", anyOf: [{ properties: { b: { minimum: 1 } } }] },
    ["#.properties[b]: Required value: because it is defined in #.anyOf[0].properties[b]"],
  ],
  "an embedded object without a type": [
    withField({ "x-kubernetes-embedded-resource": true }),
    [
      "#.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      "#.properties[a].type: Required value: must be object if x-kubernetes-embedded-resource is true",
    ],
  ],
  "an invalid pattern": [
    withField({ type: "string", pattern: "(" }),
    [
      '#.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
  ],
  "a set of objects that are not atomic": [
    withField({ type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } }),
    [
      "#.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
    ],
  ],
  "a default for the top-level kind": [
    { type: "object", properties: { kind: { type: "string", default: "x" } } },
    ["#.properties[kind].default: Forbidden: must not be set in top-level kind"],
  ],
  "a list without items": [withField({ type: "array" }), ["#.properties[a].items: Required value: must be specified"]],
  "an unknown type": [
    withField({ type: "foo" }),
    [
      '#.properties[a].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
  "a $ref": [withField({ type: "object", $ref: "#/x" }), ["#.properties[a].$ref: Forbidden: $ref is not supported"]],
  "a default inside anyOf": [
    withField({ type: "string", anyOf: [{ default: "x" }] }),
    ["#.properties[a].anyOf[0].default: Forbidden: must be undefined to be structural"],
  ],
  "a map list with an optional key that has no default": [
    withField({
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", properties: { k: { type: "string" } } },
    }),
    [
      "#.properties[a].items.properties[k].default: Required value: this property is in " +
        "x-kubernetes-list-map-keys, so it must have a default or be a required property",
    ],
  ],
  "metadata properties other than name and generateName": [
    { type: "object", properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } } },
    [
      "#.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
    ],
  ],
};
for (const [behaviour, [schema, want]] of Object.entries(refused)) {
  test(`rejects ${behaviour}`, () => {
    expect(problems(schema)).toEqual(want);
  });
}

test("rejects a deeply nested schema instead of overflowing the stack", () => {
  let schema: JsonObject = { type: "string" };
  for (let depth = 0; depth < 5000; depth++) schema = { type: "array", items: schema };

  expect(problems(withField(schema))).toHaveLength(1);
});
