import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { ResourceClaimTemplate } from "./resource-claim-template.ts";
import { resourceClaimTemplateRules } from "./resource-claim-template-rules.ts";

const template = (count: number, metadata: object = {}): ResourceClaimTemplate => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaimTemplate",
  metadata: { name: "a", namespace: "n" },
  spec: { metadata, spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu", count } }] } } },
});

test("claims take only labels and annotations from the template's metadata", () => {
  expect(
    problemsOf([resourceClaimTemplateRules], template(1, { labels: { a: "b" }, annotations: { c: "d" } })),
  ).toEqual([]);
  expect(problemsOf([resourceClaimTemplateRules], template(1, { name: "x", uid: "y" }))).toEqual([
    "spec.metadata.name: Forbidden: cannot be set",
    "spec.metadata.uID: Forbidden: cannot be set",
  ]);
});

test("the template spec follows the rules of claims", () => {
  expect(problemsOf([resourceClaimTemplateRules], template(-1))).toEqual([
    "spec.spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero",
  ]);
});

test("the spec is immutable", () => {
  const old = completedBy([resourceClaimTemplateRules], template(1));

  expect(problemsOf([resourceClaimTemplateRules], template(2), old)).toEqual([
    expect.stringMatching(/^spec: Invalid value: \{"metadata":\{\},"spec":\{"devices":.*field is immutable$/),
  ]);
});
