import { expect, test } from "vitest";
import type { JsonObject } from "../../base/index.ts";
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
  "unknown fields are kept": withField({ "x-kubernetes-preserve-unknown-fields": true }),
  "a number or a text": withField({
    "x-kubernetes-int-or-string": true,
    anyOf: [{ type: "integer" }, { type: "string" }],
  }),
  "a junctor that only narrows": withField({
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
  "a type inside a junctor": [
    withField({ type: "string", anyOf: [{ type: "string" }] }),
    ["#.properties[a].anyOf[0].type: Forbidden: must be empty to be structural"],
  ],
  "what a junctor at the root talks about and nothing else": [
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
  "a pattern that is none": [
    withField({ type: "string", pattern: "(" }),
    [
      '#.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
  ],
  "a set of objects whose parts have owners": [
    withField({ type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } }),
    [
      "#.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
    ],
  ],
  "a default at the top of metadata": [
    { type: "object", properties: { kind: { type: "string", default: "x" } } },
    ["#.properties[kind].default: Forbidden: must not be set in top-level kind"],
  ],
  "a list without items": [withField({ type: "array" }), ["#.properties[a].items: Required value: must be specified"]],
  "a type that does not exist": [
    withField({ type: "foo" }),
    [
      '#.properties[a].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
  "a reference": [
    withField({ type: "object", $ref: "#/x" }),
    ["#.properties[a].$ref: Forbidden: $ref is not supported"],
  ],
  "a default inside a junctor": [
    withField({ type: "string", anyOf: [{ default: "x" }] }),
    ["#.properties[a].anyOf[0].default: Forbidden: must be undefined to be structural"],
  ],
  "a map list whose key may be missing": [
    withField({
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", properties: { k: { type: "string" } } },
    }),
    [
      "#.properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
    ],
  ],
  "rules for metadata beyond its name": [
    { type: "object", properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } } },
    [
      "#.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
    ],
  ],
};
for (const [behaviour, [schema, want]] of Object.entries(refused)) {
  test(`refuses ${behaviour}`, () => {
    expect(problems(schema)).toEqual(want);
  });
}

test("refuses a schema that nests without end instead of running out of stack", () => {
  let schema: JsonObject = { type: "string" };
  for (let depth = 0; depth < 5000; depth++) schema = { type: "array", items: schema };

  expect(problems(withField(schema))).toHaveLength(1);
});
