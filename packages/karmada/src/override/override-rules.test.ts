import { describe, expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { ClusterOverridePolicy } from "../clusteroverridepolicy/clusteroverridepolicy-kind.ts";
import { clusterOverridePolicyRules as clusterAdmissions } from "../clusteroverridepolicy/clusteroverridepolicy-rules.ts";
import type { OverridePolicy } from "../overridepolicy/overridepolicy-kind.ts";
import { overridePolicyRules as admissions } from "../overridepolicy/overridepolicy-rules.ts";

const deployments = { apiVersion: "apps/v1", kind: "Deployment" };
const policy = (spec: object): OverridePolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "OverridePolicy",
  metadata: { name: "p", namespace: "shop" },
  spec,
});
const rule = (overriders: object): OverridePolicy => policy({ overrideRules: [{ overriders }] });

test("an override policy defaults its selectors to its namespace", () => {
  expect(completedBy(admissions, policy({ resourceSelectors: [deployments], overrideRules: [{}] })).spec).toEqual({
    resourceSelectors: [{ ...deployments, namespace: "shop" }],
    overrideRules: [{ overriders: {} }],
    overriders: {},
  });
});

test("a ClusterOverridePolicy is stored unchanged", () => {
  const given: ClusterOverridePolicy = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterOverridePolicy",
    metadata: { name: "p" },
    spec: { resourceSelectors: [deployments], overrideRules: [] },
  };

  expect(completedBy(clusterAdmissions, given).spec).toEqual(given.spec);
  expect(problemsOf(clusterAdmissions, given)).toEqual([]);
});

describe("rejects an override policy", () => {
  const at = "spec.overrideRules[0].overriders";
  const pointer = 'JSON pointer must be empty or start with a "/\nJSON pointer error';
  const cases: Record<string, { policy: OverridePolicy; want: string[] }> = {
    "that selects in another namespace": {
      policy: policy({ resourceSelectors: [{ ...deployments, namespace: "other" }] }),
      want: [
        'spec.resourceSelectors[0].namespace: Invalid value: "other": namespace of resource selector must be the same as the namespace of the policy',
      ],
    },
    "with both overriders and overrideRules": {
      policy: policy({
        targetCluster: { clusterNames: ["m1"] },
        overriders: { plaintext: [{ path: "/a", operator: "remove" }] },
        overrideRules: [{ overriders: {} }],
      }),
      want: [
        'spec.targetCluster: Invalid value: {"clusterNames":["m1"]}: overrideRules and targetCluster can\'t co-exist',
        'spec.overriders: Invalid value: {"plaintext":[{"path":"/a","operator":"remove"}]}: overrideRules and overriders can\'t co-exist',
      ],
    },
    "with overrideRules and only a deprecated fieldOverrider": {
      policy: policy({
        overriders: { fieldOverrider: [{ fieldPath: "/data/a", json: [{ subPath: "/b", operator: "remove" }] }] },
        overrideRules: [{ overriders: {} }],
      }),
      want: [
        "spec.overriders: Invalid value: " +
          '{"fieldOverrider":[{"fieldPath":"/data/a","json":[{"subPath":"/b","operator":"remove"}]}]}: ' +
          "overrideRules and overriders can't co-exist",
      ],
    },
    "with a predicate that is not a JSON pointer": {
      policy: rule({ imageOverrider: [{ predicate: { path: "spec" }, component: "Tag", operator: "add" }] }),
      want: [`${at}.imageOverrider[0].predicate.path: Invalid value: "spec": ${pointer}`],
    },
    "with a field overrider that sets both JSON and YAML": {
      policy: rule({
        fieldOverrider: [
          {
            fieldPath: "/a",
            json: [{ subPath: "/b", operator: "remove" }],
            yaml: [{ subPath: "/b", operator: "add", value: 1 }],
          },
        ],
      }),
      want: [
        `${at}.fieldOverrider[0]: Invalid value: {"fieldPath":"/a","json":[{"subPath":"/b","operator":` +
          `"remove"}],"yaml":[{"subPath":"/b","operator":"add","value":1}]}: FieldOverrider has both YAML and ` +
          "JSON set. Only one is allowed",
      ],
    },
    "with a field overrider without operations": {
      policy: rule({ fieldOverrider: [{ fieldPath: "/a" }] }),
      want: [`${at}.fieldOverrider[0]: Required value: FieldOverrider must have either JSON or YAML set`],
    },
    "with an add without a value, or a remove with one": {
      policy: rule({
        fieldOverrider: [
          {
            fieldPath: "/a",
            json: [
              { subPath: "b", operator: "add" },
              { subPath: "/c", operator: "remove", value: 1 },
            ],
          },
        ],
      }),
      want: [
        `${at}.fieldOverrider[0].json[0].subPath: Invalid value: "b": ${pointer}`,
        `${at}.fieldOverrider[0].json[0].value: Invalid value: null: value is required for add or replace operation`,
        `${at}.fieldOverrider[0].json[1].value: Invalid value: 1: value is not allowed for remove operation`,
      ],
    },
    "with more annotations than an object can have": {
      policy: rule({ annotationsOverrider: [{ operator: "add", value: { a: "x".repeat(262_145) } }] }),
      want: [`${at}.annotationsOverrider[0].value: Too long: may not be more than 262144 bytes`],
    },
  };
  for (const [behaviour, { policy: given, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(problemsOf(admissions, given)).toEqual(want);
    });
  }
});

test("the deprecated form is accepted, with a warning that names the canonical one", () => {
  const deprecated = policy({
    targetCluster: { clusterNames: ["m1"] },
    overriders: { plaintext: [{ path: "/a", operator: "remove" }] },
  });

  expect(warningsOf(admissions, deprecated)).toEqual([
    "spec.targetCluster and spec.overriders are deprecated; the canonical form is spec.overrideRules",
  ]);
});

test("a namespaced override policy does not apply to cluster-scoped objects", () => {
  const given = policy({
    resourceSelectors: [{ apiVersion: "apps.kruise.io/v1alpha1", kind: "SidecarSet" }],
    overrideRules: [{ overriders: {} }],
  });

  expect(warningsOf(admissions, given)).toEqual([
    "spec.resourceSelectors[0]: SidecarSet is in no namespace, so nothing is selected; the canonical form is a ClusterOverridePolicy",
  ]);
});
