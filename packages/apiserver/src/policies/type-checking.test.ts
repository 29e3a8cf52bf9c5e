import { expect, test } from "vitest";
import { ConfigMap, CustomResourceDefinition, Deployment, Pod } from "@flotilla/kubernetes";
import type {
  NamedRuleWithOperations,
  ValidatingAdmissionPolicySpec,
} from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { createResources, createResourceTable } from "../resources/resources.ts";
import { typeWarnings } from "./type-checking.ts";

const TABLE = createResourceTable(createResources([ConfigMap, Deployment, Pod, CustomResourceDefinition]));

function warningsOf(
  rule: Partial<NamedRuleWithOperations>,
  spec: Partial<ValidatingAdmissionPolicySpec>,
): { fieldRef: string; warning: string }[] {
  const rules = [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["*"], resources: ["deployments"], ...rule }];
  return typeWarnings({ matchConstraints: { resourceRules: rules }, ...spec }, TABLE);
}
const validations = (...expressions: string[]): { expression: string }[] =>
  expressions.map((expression) => ({ expression }));

test("reports a field that the kind does not have, in expressions and messages", () => {
  const found = warningsOf(
    {},
    { validations: [{ expression: "object.spec.nope == 1", messageExpression: "object.nope" }] },
  );

  expect(found.map(({ fieldRef }) => fieldRef)).toEqual([
    "spec.validations[0].expression",
    "spec.validations[0].messageExpression",
  ]);
  expect(found[0]?.warning).toBe(
    "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'nope'\n | object.spec.nope == 1\n | ...........^\n",
  );
});

test("knows metadata, variables and old objects", () => {
  const found = warningsOf(
    {},
    {
      variables: [{ name: "n", expression: "object.spec.replicas" }],
      validations: validations(
        "variables.n > 1",
        "object.metadata.labels['a'] == 'b'",
        "oldObject == null || object.metadata.creationTimestamp == oldObject.metadata.creationTimestamp",
      ),
    },
  );

  expect(found).toEqual([]);
});

test("checks each kind that rules name, in the order of their names", () => {
  const found = warningsOf(
    { apiGroups: ["", "apps"], resources: ["pods", "deployments", "configmaps"] },
    { validations: validations("object.spec.replicas == 1") },
  );

  expect(found[0]?.warning.match(/^\S+, Kind=\w+/gm)).toEqual(["/v1, Kind=ConfigMap", "/v1, Kind=Pod"]);
});

test("checks parameters by the schema of their kind", () => {
  const spec = { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, validations: validations("params.nope == 1") };

  expect(warningsOf({}, spec)[0]?.warning).toContain("undefined field 'nope'");
});

test("checks nothing for wildcards, subresources and kinds that are not served", () => {
  const spec = { validations: validations("object.nope == 1") };

  expect(warningsOf({ apiGroups: ["*"] }, spec)).toEqual([]);
  expect(warningsOf({ apiVersions: ["*"] }, spec)).toEqual([]);
  expect(warningsOf({ resources: ["*", "deployments/scale", "others"] }, spec)).toEqual([]);
});

test("checks a kind whose schema contains itself", () => {
  const rule = { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"] };

  expect(warningsOf(rule, { validations: validations("object.spec.group != ''") })).toEqual([]);
});
