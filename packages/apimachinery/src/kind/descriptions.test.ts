import { expect, test } from "vitest";
import { deepFreeze } from "@flotilla/base";
import type { Schema } from "../schema.ts";
import { describedKind, descriptionsAt, descriptionsOf } from "./descriptions.ts";
import type { FieldDescriptions } from "./field-descriptions.ts";
import type { Kind } from "./kind.ts";
import { labelSelectorDescriptions } from "./shared-descriptions.ts";

const schema: Schema = deepFreeze({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        taints: { type: "array", items: { type: "object", properties: { effect: { type: "string" } } } },
        limits: { type: "object", additionalProperties: { type: "object", properties: { max: { type: "integer" } } } },
        template: { type: "object", properties: { image: { type: "string" } } },
      },
    },
    status: { type: "object" },
  },
} as const);

const kindWith = (descriptions: FieldDescriptions | undefined, readSchema: () => Schema = () => schema): Kind => ({
  group: "example.com",
  kind: "Fleet",
  plural: "fleets",
  scope: "Namespaced",
  storageVersion: "v1",
  versions: {
    v1: {
      columns: [],
      get schema() {
        return readSchema();
      },
    },
  },
  subresources: {},
  builtIn: false,
  hasGeneration: true,
  descriptions,
});
const schemaOf = (kind: Kind): Schema => describedKind(kind).versions["v1"]?.schema ?? {};

test("fields, items of lists and values of maps get their description", () => {
  const described = schemaOf(
    kindWith({
      "": "A fleet.",
      spec: "What is wanted.",
      "spec.taints": "Its taints.",
      "spec.taints[].effect": "What a taint does.",
      "spec.limits.*": "A limit.",
      "spec.limits.*.max": "The largest value.",
    }),
  );

  expect(described).toEqual({
    type: "object",
    description: "A fleet.",
    properties: {
      spec: {
        type: "object",
        description: "What is wanted.",
        properties: {
          taints: {
            type: "array",
            description: "Its taints.",
            items: { type: "object", properties: { effect: { type: "string", description: "What a taint does." } } },
          },
          limits: {
            type: "object",
            additionalProperties: {
              type: "object",
              description: "A limit.",
              properties: { max: { type: "integer", description: "The largest value." } },
            },
          },
          template: { type: "object", properties: { image: { type: "string" } } },
        },
      },
      status: { type: "object" },
    },
  });
});

test("parts without a description are shared with the original schema", () => {
  const described = schemaOf(kindWith({ "spec.taints": "Its taints." }));

  expect(described.properties?.["status"]).toBe(schema.properties?.["status"]);
  expect(described.properties?.["spec"]?.properties?.["template"]).toBe(
    schema.properties?.["spec"]?.properties?.["template"],
  );
  expect(described.properties?.["spec"]?.properties?.["taints"]?.items).toBe(
    schema.properties?.["spec"]?.properties?.["taints"]?.items,
  );
});

test("a path that a version does not have is skipped", () => {
  const described = schemaOf(
    kindWith({ "spec.gone.deeper": "Gone.", "spec.taints.*": "No map.", "status[]": "No list." }),
  );

  expect(described).toEqual(schema);
});

test("the schema is read on first use, and described once", () => {
  let reads = 0;
  const kind = describedKind(
    kindWith({ spec: "What is wanted." }, () => {
      reads += 1;
      return schema;
    }),
  );
  const readsBefore = reads;

  const first = kind.versions["v1"]?.schema;

  expect(readsBefore).toBe(0);
  expect(kind.versions["v1"]?.schema).toBe(first);
  expect(reads).toBe(1);
});

test("a kind without descriptions is returned unchanged", () => {
  const kind = kindWith(undefined);

  expect(describedKind(kind)).toBe(kind);
});

test("the descriptions of a type are placed under the path of a field", () => {
  const ofType = { "": "A list.", "[].name": "A name.", key: "A key." };

  expect(descriptionsAt("spec.parts", ofType)).toEqual({
    "spec.parts": "A list.",
    "spec.parts[].name": "A name.",
    "spec.parts.key": "A key.",
  });
});

test("descriptions are read from a schema by path", () => {
  const described = schemaOf(
    kindWith({ "": "A fleet.", "spec.taints[].effect": "What it does.", "spec.limits.*": "A limit." }),
  );

  expect(descriptionsOf(described)).toEqual({
    "": "A fleet.",
    "spec.taints[].effect": "What it does.",
    "spec.limits.*": "A limit.",
  });
});

test("label selectors of upstream kinds are described as those of our own kinds", () => {
  expect(Object.keys(labelSelectorDescriptions)).toEqual([
    "matchLabels",
    "matchLabels.*",
    "matchExpressions",
    "matchExpressions[].key",
    "matchExpressions[].operator",
    "matchExpressions[].values",
    "matchExpressions[].values[]",
  ]);
});
