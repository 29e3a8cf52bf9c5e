import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { MutatingAdmissionPolicy } from "./mutating-admission-policy-kind.ts";
import { rules } from "./mutating-admission-policy-rules.ts";

const rule = { operations: ["CREATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] };
const apply = (expression: string): object => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
const jsonPatch = (expression: string): object => ({ patchType: "JSONPatch", jsonPatch: { expression } });
const policy = (fields: object = {}): MutatingAdmissionPolicy =>
  ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingAdmissionPolicy",
    metadata: { name: "replicas" },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      mutations: [apply("Object{spec: Object.spec{replicas: 3}}")],
      reinvocationPolicy: "Never",
      ...fields,
    },
  }) as MutatingAdmissionPolicy;

test("a policy defaults to Fail and to all objects of the rules in every version", () => {
  expect(completedBy(rules, policy()).spec).toMatchObject({
    failurePolicy: "Fail",
    matchConstraints: { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} },
  });
});

const accepted: Record<string, object> = {
  "an apply configuration that reads the object": {
    mutations: [apply("Object{spec: Object.spec{replicas: object.spec.replicas + 3}}")],
  },
  "a JSON patch whose path is escaped": {
    mutations: [
      jsonPatch("[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'x'}]"),
    ],
  },
  "a JSON patch that depends on a variable": {
    variables: [{ name: "paused", expression: "object.spec.replicas == 0" }],
    mutations: [jsonPatch("variables.paused ? [JSONPatch{op: 'remove', path: '/spec/replicas'}] : []")],
  },
};
for (const [what, fields] of Object.entries(accepted)) {
  test(`accepts ${what}`, () => {
    expect(problemsOf(rules, policy(fields))).toEqual([]);
  });
}

const refused: Record<string, [fields: object, want: string[]]> = {
  "a policy without mutations": [
    { mutations: [] },
    ["spec.mutations: Required value: mutations must contain at least one item"],
  ],
  "a policy without a reinvocation policy": [
    { reinvocationPolicy: undefined },
    ["spec.reinvocationPolicy: Required value"],
  ],
  deletions: [
    { matchConstraints: { resourceRules: [{ ...rule, operations: ["DELETE"] }] } },
    [
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ],
  ],
  "an unknown patch type": [
    { mutations: [{ patchType: "Merge" }] },
    ['spec.mutations[0].patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"'],
  ],
  "a patch of the other type": [
    { mutations: [{ patchType: "JSONPatch", applyConfiguration: { expression: "Object{}" } }] },
    [
      "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
      'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
    ],
  ],
  "an apply configuration that is a map": [
    { mutations: [apply("{'spec': 1}")] },
    [
      "spec.mutations[0].applyConfiguration.expression: Invalid value: \"{'spec': 1}\": must evaluate to Object but got map(string, int)",
    ],
  ],
  "a JSON patch that is a single operation": [
    { mutations: [jsonPatch("JSONPatch{op: 'test'}")] },
    [
      "spec.mutations[0].jsonPatch.expression: Invalid value: \"JSONPatch{op: 'test'}\": must evaluate to list(JSONPatch) but got JSONPatch",
    ],
  ],
};
for (const [what, [fields, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, policy(fields))).toEqual(want);
  });
}
