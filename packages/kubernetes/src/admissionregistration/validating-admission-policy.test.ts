import { describe, expect, test } from "vitest";
import type { ParamKind } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { paramKindCell } from "./match-resources.ts";
import type { ValidatingAdmissionPolicy } from "./validating-admission-policy-kind.ts";
import { rules } from "./validating-admission-policy-rules.ts";

const rule = { operations: ["CREATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] };
const policy = (fields: object = {}): ValidatingAdmissionPolicy => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: "limits" },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: "object.spec.replicas <= 5" }],
    ...fields,
  },
});
const constraints = (fields: object): object => ({ matchConstraints: { resourceRules: [rule], ...fields } });

test("a policy defaults to Fail and to all objects of the rules in every version", () => {
  const excluded = { excludeResourceRules: [rule] };

  expect(completedBy(rules, policy(constraints(excluded))).spec).toMatchObject({
    failurePolicy: "Fail",
    matchConstraints: {
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [{ scope: "*" }],
      excludeResourceRules: [{ scope: "*" }],
    },
  });
});

const accepted: Record<string, object> = {
  "audit annotations without validations": {
    validations: [],
    auditAnnotations: [{ key: "replicas", valueExpression: "string(object.spec.replicas)" }],
  },
  "an audit annotation that may be absent": {
    auditAnnotations: [{ key: "a", valueExpression: "null" }],
  },
  "expressions that read parameters": {
    paramKind: { apiVersion: "rules.example.com/v1", kind: "ReplicaLimit" },
    matchConditions: [{ name: "enabled", expression: "params.enabled == true" }],
    validations: [
      { expression: "object.spec.replicas <= params.max", messageExpression: "'at most ' + string(params.max)" },
    ],
  },
  "variables that read earlier ones": {
    variables: [
      { name: "replicas", expression: "object.spec.replicas" },
      { name: "tooMany", expression: "variables.replicas > 5" },
    ],
    validations: [{ expression: "!variables.tooMany", messageExpression: "'got ' + string(variables.replicas)" }],
  },
};
for (const [what, fields] of Object.entries(accepted)) {
  test(`accepts ${what}`, () => {
    expect(problemsOf(rules, policy(fields))).toEqual([]);
  });
}

const refused: Record<string, [fields: object, want: string[]]> = {
  "a parameter kind without anything": [
    { paramKind: {} },
    ["spec.paramKind.apiVersion: Required value", "spec.paramKind.kind: Required value"],
  ],
  "a parameter kind of no version": [
    { paramKind: { apiVersion: "example.com/", kind: "Limit" } },
    ['spec.paramKind.apiVersion: Invalid value: "example.com/": version must be specified'],
  ],
  "a parameter kind with two slashes": [
    { paramKind: { apiVersion: "a/b/c", kind: "Limit" } },
    ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
  ],
  "a parameter kind whose name no kind can have": [
    { paramKind: { apiVersion: "v1", kind: "Config Map" } },
    [
      expect.stringMatching(
        /^spec\.paramKind\.kind: Invalid value: "Config Map": may have mixed case, but should otherwise match: /,
      ),
    ],
  ],
  "a match policy that does not exist": [
    constraints({ matchPolicy: "Loose" }),
    ['spec.matchConstraints.matchPolicy: Unsupported value: "Loose": supported values: "Equivalent", "Exact"'],
  ],
  "a repeated resource name": [
    { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ["a", "a"] }] } },
    ['spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"'],
  ],
  "a variable that a later one defines": [
    {
      variables: [
        { name: "a", expression: "variables.b" },
        { name: "b", expression: "1" },
      ],
    },
    [
      'spec.variables[0].expression: Invalid value: "variables.b": compilation failed: ERROR: <input>:1:10: ' +
        "undefined field 'b'\n | variables.b\n | .........^",
    ],
  ],
  "a variable with a reserved name": [
    { variables: [{ name: "namespace", expression: "1" }] },
    ['spec.variables[0].name: Invalid value: "namespace": must be a valid CEL identifier'],
  ],
  "a variable without a name or an expression": [
    { variables: [{ name: " ", expression: "" }] },
    [
      "spec.variables[0].name: Required value: name is not specified",
      "spec.variables[0].expression: Required value: expression is not specified",
    ],
  ],
  "variables in match conditions": [
    { variables: [{ name: "a", expression: "true" }], matchConditions: [{ name: "a", expression: "variables.a" }] },
    [
      'spec.matchConditions[0].expression: Invalid value: "variables.a": compilation failed: ERROR: ' +
        "<input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.a\n | ^",
    ],
  ],
  "a blank message": [
    { validations: [{ expression: "true", message: " ", messageExpression: " " }] },
    [
      'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
      'spec.validations[0].message: Invalid value: " ": must be non-empty if specified',
    ],
  ],
  "a message that depends on what the user may do": [
    { validations: [{ expression: "true", messageExpression: "authorizer.path('/').check('get').reason()" }] },
    [expect.stringContaining("undeclared reference to 'authorizer'")],
  ],
  "an audit annotation of another type": [
    { auditAnnotations: [{ key: "a", valueExpression: "1" }] },
    [
      'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
    ],
  ],
  "more than 20 audit annotations": [
    { auditAnnotations: Array.from({ length: 21 }, (_, index) => ({ key: `k${index}`, valueExpression: "'x'" })) },
    ["spec.auditAnnotations: Invalid value: must not have more than 20 auditAnnotations"],
  ],
  "a value expression of more than 5 KiB": [
    { auditAnnotations: [{ key: "a", valueExpression: `'${"x".repeat(5 * 1024)}'` }] },
    ["spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in length"],
  ],
};
for (const [what, [fields, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, policy(fields))).toEqual(want);
  });
}

describe("an update", () => {
  const gone = { matchConditions: [{ name: "a", expression: "params == gone()" }] };

  test("accepts stored match conditions that do not compile any more", () => {
    expect(problemsOf(rules, policy({ ...gone, failurePolicy: "Ignore" }), policy(gone))).toEqual([]);
  });

  test("compiles match conditions again when the parameter kind changes", () => {
    const paramKind = { apiVersion: "v1", kind: "ConfigMap" };

    expect(problemsOf(rules, policy({ ...gone, paramKind }), policy(gone))).toEqual([
      expect.stringContaining("undeclared reference to 'gone'"),
    ]);
  });
});

test("rejects a status with incomplete type-check warnings", () => {
  const checked: ValidatingAdmissionPolicy = {
    ...policy(),
    status: { typeChecking: { expressionWarnings: [{ fieldRef: "", warning: "" }] } },
  };

  expect(problemsOf(rules, checked, policy(), "status")).toEqual([
    "status.typeChecking.expressionWarnings[0].warning: Required value",
    "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
  ]);
});

const cells: Record<string, [kind: ParamKind | undefined, cell: string]> = {
  "the kind of the parameters": [{ apiVersion: "v1", kind: "ConfigMap" }, "v1/ConfigMap"],
  "that there are none": [undefined, "<unset>"],
};
for (const [what, [kind, cell]] of Object.entries(cells)) {
  test(`the column ParamKind shows ${what}`, () => {
    expect(paramKindCell(kind)).toBe(cell);
  });
}
