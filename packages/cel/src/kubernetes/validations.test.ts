import { expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import { compileValidations } from "./validations.ts";

const integer: Schema = { type: "integer" };
const text: Schema = { type: "string" };
const withRules = (schema: Schema, ...rules: Record<string, Json>[]): Schema => ({
  ...schema,
  "x-kubernetes-validations": rules,
});
const withSpec = (spec: Schema): Schema => ({ type: "object", properties: { spec } });
const object = (spec: Json): JsonObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "w" },
  spec,
});
const notify = ({ field, message }: { field: string; message: string }): string => `${field}: ${message}`;

const pair = { type: "object", properties: { a: integer, b: integer } } satisfies Schema;

const cases: Record<string, { schema: Schema; spec: Json; want: string[] }> = {
  "reports nothing for an object that satisfies the rules": {
    schema: withRules(pair, { rule: "self.a < self.b" }),
    spec: { a: 1, b: 2 },
    want: [],
  },
  "reports the rule when there is no message": {
    schema: withRules(pair, { rule: "self.a < self.b" }),
    spec: { a: 2, b: 1 },
    want: ["spec: Invalid value: failed rule: self.a < self.b"],
  },
  "reports the rule's message": {
    schema: withRules(pair, { rule: "self.a < self.b", message: " a first " }),
    spec: { a: 2, b: 1 },
    want: ["spec: Invalid value: a first"],
  },
  "reports the result of the message expression": {
    schema: withRules(pair, {
      rule: "self.a < self.b",
      messageExpression: "'a is %d'.format([self.a])",
      message: "unused",
    }),
    spec: { a: 2, b: 1 },
    want: ["spec: Invalid value: a is 2"],
  },
  "falls back to the message when the message expression fails": {
    schema: withRules(pair, { rule: "self.a < self.b", messageExpression: "string(1 / self.b)", message: "fallback" }),
    spec: { a: 2, b: 0 },
    want: ["spec: Invalid value: fallback"],
  },
  "reports with the rule's reason": {
    schema: withRules(pair, { rule: "false", reason: "FieldValueForbidden", message: "no" }),
    spec: {},
    want: ["spec: Forbidden: no"],
  },
  "reports at the rule's field path": {
    schema: withRules(pair, { rule: "false", fieldPath: ".a", message: "no" }),
    spec: {},
    want: ["spec.a: Invalid value: no"],
  },
  "includes the value of a scalar": {
    schema: { type: "object", properties: { a: withRules(integer, { rule: "self > 0" }) } },
    spec: { a: -1 },
    want: ["spec.a: Invalid value: -1: failed rule: self > 0"],
  },
  "reports the key of a map and the index of a list": {
    schema: {
      type: "object",
      properties: {
        m: { type: "object", additionalProperties: withRules(text, { rule: "self != ''" }) },
        l: { type: "array", items: withRules(text, { rule: "self != ''" }) },
      },
    },
    spec: { m: { k: "" }, l: ["x", ""] },
    want: [
      "spec.m[k]: Invalid value: \"\": failed rule: self != ''",
      "spec.l[1]: Invalid value: \"\": failed rule: self != ''",
    ],
  },
  "reports an evaluation error of a rule": {
    schema: withRules(pair, { rule: "self.a < self.b" }),
    spec: { a: 1 },
    want: ['spec: Invalid value: "object": no such key: b evaluating rule: self.a < self.b'],
  },
  "explains an operator that does not fit a dynamic value": {
    schema: withRules(
      { type: "object", properties: { x: { "x-kubernetes-int-or-string": true } } },
      { rule: "self.x > 1" },
    ),
    spec: { x: "5" },
    want: [
      "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, " +
        "function or macro signature for rule: self.x > 1",
    ],
  },
  "does not run rules on null": {
    schema: {
      type: "object",
      properties: { n: withRules({ type: "string", nullable: true }, { rule: "self == 'x'" }) },
    },
    spec: { n: null },
    want: [],
  },
  "runs rules of allOf": {
    schema: { ...pair, allOf: [withRules({}, { rule: "self.a > 3" })] },
    spec: { a: 1 },
    want: ["spec: Invalid value: failed rule: self.a > 3"],
  },
  "reads escaped names": {
    schema: withRules(
      { type: "object", properties: { "a.b": integer, namespace: text, "x-y": integer } },
      { rule: "self.a__dot__b == 1 && self.__namespace__ == 'n' && self.x__dash__y == 2" },
    ),
    spec: { "a.b": 1, namespace: "n", "x-y": 2 },
    want: [],
  },
  "handles hostile keys such as __proto__ as ordinary keys": {
    schema: withRules(
      { type: "object", additionalProperties: text },
      { rule: "self.all(k, self[k] == 'v') && !('constructor' in self) && !has(self.__proto__)" },
    ),
    spec: JSON.parse('{"hasOwnProperty":"v","toString":"v"}') as Json,
    want: [],
  },
};
for (const [behaviour, { schema, spec, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const validations = compileValidations(withSpec(schema));

    const { errors, warnings } = validations.validate(object(spec));

    expect(errors.map(notify)).toEqual(want);
    expect(warnings).toEqual([]);
  });
}

test("a schema without rules has nothing to run", () => {
  const validations = compileValidations(withSpec(pair));

  expect(validations.hasRules).toBe(false);
  expect(validations.validate(object({ a: 5 }))).toEqual({ errors: [], warnings: [] });
});

test("rules at the root can read only the name in the object's metadata", () => {
  const validations = compileValidations({
    type: "object",
    "x-kubernetes-validations": [{ rule: "self.metadata.name == 'q'", message: "name" }],
  });

  expect(validations.validate(object({})).errors.map(notify)).toEqual(["<nil>: Invalid value: name"]);
});

const keyed: Schema = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["k"],
  items: withRules(
    { type: "object", properties: { k: text, v: integer } },
    { rule: "self.v >= oldSelf.v", message: "v cannot decrease" },
  ),
};
const transitions: Record<string, { schema: Schema; before: Json; after: Json; want: string[] }> = {
  "a transition rule compares with the old value": {
    schema: withRules(pair, { rule: "self.a == oldSelf.a", message: "a is fixed" }),
    before: { a: 1 },
    after: { a: 2 },
    want: ["spec: Invalid value: a is fixed"],
  },
  "a transition rule does not run without an old value": {
    schema: { type: "object", properties: { a: withRules(integer, { rule: "self == oldSelf" }) } },
    before: {},
    after: { a: 2 },
    want: [],
  },
  "elements of a map list are correlated by their keys, at any position": {
    schema: { type: "object", properties: { l: keyed } },
    before: {
      l: [
        { k: "a", v: 5 },
        { k: "b", v: 5 },
      ],
    },
    after: {
      l: [
        { k: "new", v: 0 },
        { k: "b", v: 4 },
        { k: "a", v: 5 },
      ],
    },
    want: ["spec.l[1]: Invalid value: v cannot decrease"],
  },
  "an optional oldSelf has a value when there is an old value": {
    schema: withRules(pair, {
      rule: "oldSelf.hasValue() ? self.a > oldSelf.value().a : self.a > 10",
      optionalOldSelf: true,
      message: "grow",
    }),
    before: { a: 5 },
    after: { a: 5 },
    want: ["spec: Invalid value: grow"],
  },
};
for (const [behaviour, { schema, before, after, want }] of Object.entries(transitions)) {
  test(behaviour, () => {
    const validations = compileValidations(withSpec(schema));

    const { errors } = validations.validate(object(after), object(before));

    expect(errors.map(notify)).toEqual(want);
  });
}

test("a rule with an optional oldSelf also runs when the object is created", () => {
  const validations = compileValidations(
    withSpec(withRules(pair, { rule: "oldSelf.hasValue() || self.a > 10", optionalOldSelf: true, message: "large" })),
  );

  expect(validations.validate(object({ a: 5 })).errors.map(notify)).toEqual(["spec: Invalid value: large"]);
});

const ratcheted = withSpec({
  type: "object",
  properties: { a: withRules(integer, { rule: "self > 0", message: "positive" }), b: integer },
});

test("a failure on an unchanged part becomes a warning on update", () => {
  const outcome = compileValidations(ratcheted).validate(object({ a: -1, b: 2 }), object({ a: -1, b: 1 }));

  expect(outcome).toEqual({ errors: [], warnings: ["spec.a: Invalid value: -1: positive"] });
});

test("a failure on a changed part rejects the update", () => {
  const outcome = compileValidations(ratcheted).validate(object({ a: -2 }), object({ a: -1 }));

  expect(outcome.errors.map(notify)).toEqual(["spec.a: Invalid value: -2: positive"]);
});

test("a call that exceeds its cost limit ends validation with an error", () => {
  const list: Schema = withRules({ type: "array", items: integer }, { rule: "self.all(x, self.all(y, x + y >= 0))" });
  const validations = compileValidations(
    withSpec({ type: "object", properties: { l: list, z: withRules(integer, { rule: "false" }) } }),
  );
  const spec = { l: Array.from({ length: 2000 }, (_, index) => index), z: 1 };

  const { errors } = validations.validate(object(spec));

  expect(errors.map(notify)).toEqual([
    "spec.l: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further " +
      "validation rules will be run due to call cost exceeds limit for rule: self.all(x, self.all(y, x + y >= 0))",
  ]);
});

test("the rules of one object share a budget", () => {
  const rule = { rule: "self.l.all(x, x >= 0)" };
  const validations = compileValidations(
    withSpec(withRules({ type: "object", properties: { l: { type: "array", items: integer } } }, rule, rule)),
  );

  const { errors } = validations.validate(object({ l: [1, 2, 3] }), undefined, { remaining: 30 });

  expect(errors.map(notify)).toEqual([
    'spec: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
  ]);
});
