import { describe, expect, test } from "vitest";
import type { ValidatingAdmissionPolicySpec } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import type { AdmissionInput } from "@flotilla/cel";
import { compileValidatingPolicy, denialMessage } from "./validating-policy.ts";
import type { PolicyOutcome } from "./validating-policy.ts";

const KIND = { group: "", version: "v1", kind: "ConfigMap" };
const RESOURCE = { group: "", version: "v1", resource: "configmaps" };
const INPUT: AdmissionInput = {
  request: {
    kind: KIND,
    resource: RESOURCE,
    requestKind: KIND,
    requestResource: RESOURCE,
    name: "m",
    operation: "CREATE",
    userInfo: { username: "alice" },
    dryRun: false,
  },
  object: { metadata: { name: "m" }, data: { a: "1" } },
};

const evaluate = (spec: ValidatingAdmissionPolicySpec, input = INPUT): PolicyOutcome =>
  compileValidatingPolicy(spec).evaluate(input);
describe("the message of a denial", () => {
  const cases: Record<string, { message?: string; evaluated?: string | null; want: string }> = {
    "is the evaluated one": { message: "fixed", evaluated: " made ", want: "made" },
    "is the fixed one when the evaluated one is empty": { message: "fixed", evaluated: "  ", want: "fixed" },
    "is the fixed one when the evaluated one has several lines": { message: "fixed", evaluated: "a\nb", want: "fixed" },
    "is the fixed one when the evaluated one is too long": {
      message: "fixed",
      evaluated: "x".repeat(5 * 1024 + 1),
      want: "fixed",
    },
    "is the fixed one when the evaluated one is not a string": { message: "fixed", evaluated: null, want: "fixed" },
    "is the expression when there is no other": { want: "failed expression: a == b" },
  };
  for (const [what, { message, evaluated, want }] of Object.entries(cases))
    test(what, () => {
      expect(denialMessage({ expression: " a == b ", message }, evaluated)).toBe(want);
    });
});

test("every failing validation is a denial with its reason and position", () => {
  const { denials } = evaluate({
    validations: [
      { expression: "true" },
      { expression: "false", message: "one", reason: "Forbidden" },
      { expression: "object.data.a == '2'", messageExpression: "'a is ' + object.data.a" },
    ],
  });

  expect(denials).toEqual([
    { index: 1, message: "one", reason: "Forbidden" },
    { index: 2, message: "a is 1", reason: "Invalid" },
  ]);
});

describe("an expression that fails", () => {
  const failing = [{ expression: "object.data.missing == 'x'" }];

  test("denies the request with failurePolicy Fail", () => {
    expect(evaluate({ validations: failing }).denials).toEqual([
      {
        index: 0,
        message: "expression 'object.data.missing == 'x'' resulted in error: no such key: missing",
        reason: "Invalid",
      },
    ]);
  });

  test("is passed over with failurePolicy Ignore, and other validations count", () => {
    const { denials } = evaluate({
      failurePolicy: "Ignore",
      validations: [...failing, { expression: "false", message: "no" }],
    });

    expect(denials.map(({ message }) => message)).toEqual(["no"]);
  });

  test("an expression that fails in a match condition decides as a validation does", () => {
    const matchConditions = [{ name: "c", expression: "object.data.missing == 'x'" }];
    const validations = [{ expression: "false", message: "no" }];

    expect(evaluate({ matchConditions, validations }).denials.map(({ message }) => message)).toEqual([
      "expression 'object.data.missing == 'x'' resulted in error: no such key: missing",
    ]);
    expect(evaluate({ matchConditions, validations, failurePolicy: "Ignore" }).denials).toEqual([]);
  });
});

test("the cost of all validations together is limited", () => {
  const items = Array.from({ length: 300 }, () => 1);
  const expensive = { expression: "object.items.all(a, object.items.all(b, a == b))" };
  const validations = [{ expression: "false" }, ...Array.from({ length: 60 }, () => expensive)];

  const { denials } = evaluate({ validations }, { ...INPUT, object: { items } });

  expect(denials.map(({ message }) => message)).toEqual([
    "validation failed due to running out of cost budget, no further validation rules will be run",
  ]);
});

test("variables and parameters are known to conditions, validations and messages", () => {
  const { denials } = evaluate(
    {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      variables: [{ name: "wanted", expression: "params.data.want" }],
      matchConditions: [{ name: "c", expression: "params.data.want != ''" }],
      validations: [
        { expression: "object.data.a == variables.wanted", messageExpression: "'want ' + variables.wanted" },
      ],
    },
    { ...INPUT, params: { data: { want: "2" } } },
  );

  expect(denials.map(({ message }) => message)).toEqual(["want 2"]);
});

describe("audit annotations", () => {
  test("have the value of their expression, unless it is empty or null", () => {
    const { annotations, denials } = evaluate({
      auditAnnotations: [
        { key: "name", valueExpression: "'created ' + object.metadata.name" },
        { key: "none", valueExpression: "' '" },
        { key: "null", valueExpression: "null" },
      ],
    });

    expect({ annotations, denials }).toEqual({ annotations: [{ key: "name", value: "created m" }], denials: [] });
  });

  test("audit annotations that fail are errors, unless failures are ignored", () => {
    const auditAnnotations = [{ key: "k", valueExpression: "string(object.data.missing)" }];

    expect(evaluate({ auditAnnotations }).errors).toEqual([
      "expression 'string(object.data.missing)' resulted in error: no such key: missing",
    ]);
    expect(evaluate({ auditAnnotations, failurePolicy: "Ignore" }).errors).toEqual([]);
  });
});
