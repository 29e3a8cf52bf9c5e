import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { paramRefCell } from "./match-resources.ts";
import { rules as mutatingRules } from "./mutating-admission-policy-binding.ts";
import type { MutatingAdmissionPolicyBinding } from "./mutating-admission-policy-binding-kind.ts";
import { rules } from "./validating-admission-policy-binding.ts";
import type { ValidatingAdmissionPolicyBinding } from "./validating-admission-policy-binding-kind.ts";

const binding = (fields: object = {}): ValidatingAdmissionPolicyBinding => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: "limits" },
  spec: { policyName: "limits", validationActions: ["Deny"], ...fields },
});
const mutating = (spec: object): MutatingAdmissionPolicyBinding => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingAdmissionPolicyBinding",
  metadata: { name: "replicas" },
  spec,
});

test("only a binding that restricts the requests gets defaults for that", () => {
  expect(completedBy(rules, binding()).spec.matchResources).toBeUndefined();
  expect(completedBy(rules, binding({ matchResources: {} })).spec.matchResources).toEqual({
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
  });
});

const refused: Record<string, [fields: object, want: string[]]> = {
  "no actions": [
    { validationActions: [] },
    ["spec.validationActions: Required value: at least one validation action is required"],
  ],
  "an action twice": [
    { validationActions: ["Audit", "Audit"] },
    ['spec.validationActions[1]: Duplicate value: "Audit"'],
  ],
  "a policy name that no policy can have": [
    { policyName: "A" },
    [expect.stringMatching(/^spec\.policyName: Invalid value: "A": a lowercase RFC 1123 subdomain must/)],
  ],
  "the name of a parameter with a slash": [
    { paramRef: { name: "a/b", parameterNotFoundAction: "Deny" } },
    ["spec.paramRef.name: Invalid value: \"a/b\": may not contain '/'"],
  ],
  "an invalid selector of parameters": [
    {
      paramRef: {
        selector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] },
        parameterNotFoundAction: "Allow",
      },
    },
    [
      "spec.paramRef.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  ],
};
for (const [what, [fields, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, binding(fields))).toEqual(want);
  });
}

test("a binding of a mutating policy needs a policy, and cannot match deletions", () => {
  const rule = { operations: ["DELETE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };

  expect(problemsOf(mutatingRules, mutating({ matchResources: { resourceRules: [rule] } }))).toEqual([
    "spec.policyName: Required value",
    'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
  ]);
  expect(problemsOf(mutatingRules, mutating({ policyName: "replicas" }))).toEqual([]);
});

const cells: Record<string, [reference: object | undefined, cell: string]> = {
  "no parameters": [undefined, "<unset>"],
  "a parameter in a namespace": [{ name: "a", namespace: "shop" }, "shop/a"],
  "a parameter in the namespace of the object or in none": [{ name: "a" }, "*/a"],
  "selected parameters": [
    { selector: { matchLabels: { a: "b" } } },
    "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}",
  ],
};
for (const [what, [reference, cell]] of Object.entries(cells)) {
  test(`the column ParamRef shows ${what}`, () => {
    expect(paramRefCell(reference)).toBe(cell);
  });
}
