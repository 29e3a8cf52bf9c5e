import { expect, expectTypeOf, test } from "vitest";
import * as s from "./schema-builder.ts";
import type { Condition, LabelSelector } from "./facts/meta-v1.ts";

const step = s.object({
  name: s.string("The name of the step.", { maxLength: 63 }),
  maxUnavailable: s.intOrString("How many members may be unavailable.", { default: "25%" }),
});
const spec = s.object({
  mode: s.string("What happens.", { enum: ["Cordon", "Drain"], default: "Cordon" }),
  clusters: s.optional(s.labelSelector("Selects members.")),
  duration: s.duration("How long it lasts."),
  steps: s.array("The steps, in order.", step, { key: "name", maxItems: 10 }),
  labels: s.optional(s.map("Labels for members.", s.string("A label value."))),
});
const status = s.object({ conditions: s.optional(s.conditions("Ready and Progressing.")) });

test("infers the type for readers, in which fields with a default are present", () => {
  expectTypeOf<s.Infer<typeof spec>>().toEqualTypeOf<{
    mode: "Cordon" | "Drain";
    clusters?: LabelSelector;
    duration: string;
    steps: { name: string; maxUnavailable: number | string }[];
    labels?: Record<string, string>;
  }>();
  expectTypeOf<s.Infer<typeof status>>().toEqualTypeOf<{ conditions?: Condition[] }>();
});

test("infers the type for writers, in which fields with a default are optional", () => {
  expectTypeOf<s.Input<typeof spec>>().toEqualTypeOf<{
    mode?: "Cordon" | "Drain";
    clusters?: LabelSelector;
    duration: string;
    steps: { name: string; maxUnavailable?: number | string }[];
    labels?: Record<string, string>;
  }>();
});

test("requires fields that are neither optional nor have a default", () => {
  expect(spec.schema.required).toEqual(["duration", "steps"]);
  expect(spec.schema.properties?.["mode"]).toEqual({
    type: "string",
    description: "What happens.",
    enum: ["Cordon", "Drain"],
    default: "Cordon",
  });
});

test("declares the keys of a list for server-side apply", () => {
  const { items: _, ...list } = spec.schema.properties?.["steps"] ?? {};

  expect(list).toEqual({
    type: "array",
    description: "The steps, in order.",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    maxItems: 10,
  });
});

test("a list without keys is atomic, a set has unique elements", () => {
  const atomic = s.array("Names.", s.string("A name."));
  const set = s.array("Names.", s.string("A name."), { isSet: true });

  expect([atomic, set].map(({ schema }) => schema["x-kubernetes-list-type"])).toEqual(["atomic", "set"]);
});

test("rejects a key that may be absent", () => {
  const item = s.object({ name: s.optional(s.string("The name.")) });

  expect(() => s.array("Steps.", item, { key: "name" })).toThrow("the key name of a list must be a field");
});

test("rejects a field without a description", () => {
  expect(() => s.object({ step })).toThrow("the field step of one of our own kinds needs a description");
});

test("declares CEL rules on the value that they read", () => {
  const { schema } = s.object(
    "A range.",
    { from: s.integer("The least.", { minimum: 0 }), to: s.integer("The most.", { format: "int64" }) },
    { rules: [{ rule: "self.from <= self.to", message: "from must not exceed to" }] },
  );

  expect(schema).toEqual({
    type: "object",
    description: "A range.",
    required: ["from", "to"],
    properties: {
      from: { type: "integer", format: "int32", description: "The least.", minimum: 0 },
      to: { type: "integer", format: "int64", description: "The most." },
    },
    "x-kubernetes-validations": [{ rule: "self.from <= self.to", message: "from must not exceed to" }],
  });
});
