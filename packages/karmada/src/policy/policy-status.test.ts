import { expect, test } from "vitest";
import { required, type JsonObject } from "@flotilla/base";
import { compileSchema, definitionSchema } from "@flotilla/apimachinery";
import { customResourceDefinitionOf } from "@flotilla/kubernetes";
import { MAX_STATUS_PROBLEMS, type PolicyStatus } from "./policy-status.ts";
import { PropagationPolicy } from "../propagationpolicy/propagationpolicy-kind.ts";

const schema = compileSchema(required(PropagationPolicy.versions["v1alpha1"], "the version of policies").schema);
const policy = (status: PolicyStatus): JsonObject => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "p" },
  spec: { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }] },
  status: status as JsonObject,
});
const problem = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  namespace: "shop",
  name: "web",
  reason: "NoClusterFit",
  message: "no cluster has the label",
};

test("a policy status records the state of its objects", () => {
  const status: PolicyStatus = {
    observedGeneration: 2,
    matched: 3,
    scheduled: 2,
    applied: 1,
    clusters: ["m1", "m2"],
    clusterCount: 2,
    problems: [problem],
    conditions: [
      {
        type: "Scheduled",
        status: "False",
        reason: "NoClusterFit",
        message: "1 of 3 objects has no cluster",
        lastTransitionTime: "2024-05-01T12:00:00Z",
      },
    ],
  };

  expect(schema.admit(policy(status))["status"]).toEqual(status);
  expect(schema.validate(policy(status)) ?? []).toEqual([]);
});

test("the size of a status is bounded", () => {
  const found = schema.validate(policy({ problems: Array.from({ length: MAX_STATUS_PROBLEMS + 1 }, () => problem) }));

  expect(found?.values.map(({ field, type }) => [field, type])).toEqual([["status.problems", "TooMany"]]);
});

/** No field of a policy has this name. */
const withoutDescriptions = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, part: unknown) => (key === "description" ? undefined : part)));

test("status and descriptions are the only differences from Karmada's CRD", () => {
  const [version] = customResourceDefinitionOf(PropagationPolicy).spec.versions;
  const { status: _added, ...properties } = (version?.schema?.openAPIV3Schema?.properties ?? {}) as Record<
    string,
    unknown
  >;

  expect(withoutDescriptions(properties)).toEqual(
    definitionSchema("propagationpolicies.policy.karmada.io", "v1alpha1").properties,
  );
  expect(version?.subresources).toEqual({ status: {} });
  expect(
    version?.additionalPrinterColumns?.filter(({ priority = 0 }) => priority === 0).map(({ name }) => name),
  ).toEqual(["CONFLICT-RESOLUTION", "PRIORITY", "AGE"]);
});
