import { expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import { checkValidationRules } from "./crd-rules.ts";

const AT = "spec.x-kubernetes-validations[0]";
const integer: Schema = { type: "integer" };
const pair: Schema = { type: "object", properties: { a: integer, s: { type: "string" } } };
const rules = (schema: Schema, ...list: Record<string, Json>[]): Schema => ({
  ...schema,
  "x-kubernetes-validations": list,
});

const ADVICE =
  "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";
const shown = (rule: string): string => JSON.stringify({ rule });

const cases: Record<string, { schema: Schema; want: string[] }> = {
  "accepts rules that compile and cost little": {
    schema: rules(pair, { rule: "self.a > 0", message: "m", reason: "FieldValueInvalid", fieldPath: ".a" }),
    want: [],
  },
  "requires a rule": {
    schema: rules(pair, { rule: "  " }),
    want: [`${AT}.rule: Required value: rule is not specified`],
  },
  "requires a message for a multi-line rule": {
    schema: rules(pair, { rule: "self.a\n> 0" }),
    want: [`${AT}.message: Required value: message must be specified if rule contains line breaks`],
  },
  "rejects a multi-line message": {
    schema: rules(pair, { rule: "self.a > 0", message: "a\nb" }),
    want: [`${AT}.message: Invalid value: "a\\nb": must not contain line breaks`],
  },
  "rejects an unknown reason": {
    schema: rules(pair, { rule: "self.a > 0", reason: "Whatever" }),
    want: [
      `${AT}.reason: Unsupported value: "Whatever": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
    ],
  },
  "rejects a fieldPath that does not exist": {
    schema: rules(pair, { rule: "self.a > 0", fieldPath: ".zzz" }),
    want: [`${AT}.fieldPath: Invalid value: ".zzz": must be a valid path`],
  },
  "shows the position of a compile error": {
    schema: rules(pair, { rule: "self.nope > 1" }),
    want: [
      `${AT}.rule: Invalid value: ${shown("self.nope > 1")}: compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^`,
    ],
  },
  "requires a rule to return bool": {
    schema: rules(pair, { rule: "self.a" }),
    want: [`${AT}.rule: Invalid value: ${shown("self.a")}: cel expression must evaluate to a bool`],
  },
  "requires a message expression to return a string": {
    schema: rules(pair, { rule: "self.a > 0", messageExpression: "1" }),
    want: [
      `${AT}.messageExpression: Invalid value: {"rule":"self.a > 0","messageExpression":"1"}: messageExpression must evaluate to a string`,
    ],
  },
  "rejects oldSelf where old elements cannot be correlated": {
    schema: { type: "array", items: rules(pair, { rule: "self.a == oldSelf.a" }) },
    want: [
      'spec.items.x-kubernetes-validations[0].rule: Invalid value: "self.a == oldSelf.a": oldSelf cannot be ' +
        "used on the uncorrelatable portion of the schema within spec",
    ],
  },
  "rejects optionalOldSelf for a rule without oldSelf": {
    schema: rules(pair, { rule: "self.a > 0", optionalOldSelf: true }),
    want: [`${AT}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`],
  },
  "rejects a rule that can cost too much, and reports the total": {
    schema: rules({ type: "array", items: { type: "string" } }, { rule: "self.all(x, self.all(y, x != y))" }),
    want: [
      `${AT}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${ADVICE}`,
      `${AT}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      `spec: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${ADVICE}`,
    ],
  },
  "multiplies a rule's cost by the cardinality of its location": {
    schema: { type: "array", maxItems: 6_000_000, items: rules(integer, { rule: "self > 0" }) },
    want: [
      `spec.items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.200000x ${ADVICE}`,
    ],
  },
  "skips a rule above an invalid one": {
    schema: rules({ type: "object", properties: { a: rules(integer, { rule: "" }) } }, { rule: "nonsense(" }),
    want: ["spec.properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified"],
  },
};
for (const [behaviour, { schema, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const { schemaErrors, celErrors, totalErrors } = checkValidationRules(schema, { path: "spec" });

    const reported = [...schemaErrors, ...celErrors, ...totalErrors].map(
      ({ field, message }) => `${field}: ${message}`,
    );
    expect(reported).toEqual(want);
  });
}
