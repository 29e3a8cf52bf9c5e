import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { makeBinding, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { digestOf, planActivation } from "./lazy-activation.ts";
import { claimMetadata } from "./plan-match.ts";
import { ACTIVATED_TEMPLATE } from "../../flotilla-names.ts";
import { POLICY_ID } from "@flotilla/karmada";

const policy = makePolicy("shop/all")
  .with(({ metadata, spec }) => {
    Object.assign(metadata, { labels: { [POLICY_ID]: "p-1" }, resourceVersion: "100" });
    spec.activationPreference = "Lazy";
  })
  .build();
const template = (
  resourceVersion: string,
  annotations: Record<string, string> = {},
  labels: Record<string, string> = {},
): KubernetesObject =>
  makeDeployment("shop/web")
    .labels(labels)
    .with(({ metadata }) => Object.assign(metadata, { resourceVersion, annotations }))
    .build();
const binding = (activated?: string) =>
  makeBinding(template("1"))
    .with(({ metadata }) => (metadata.annotations = activated === undefined ? {} : { [ACTIVATED_TEMPLATE]: activated }))
    .build();
const now = digestOf(template("1"));
const claim = claimMetadata(policy);

const cases: Record<
  string,
  { template: KubernetesObject; binding?: ReturnType<typeof binding>; want: "now" | "later" }
> = {
  "a template that is older than the policy waits": { template: template("99"), want: "later" },
  "a template applied after the policy is activated at once": { template: template("101"), want: "now" },
  "resourceVersions are compared as numbers": { template: template("99999"), want: "now" },
  "a claim without a binding and without a digest was interrupted": {
    template: template("99", claim.annotations, claim.labels),
    want: "now",
  },
  "a claimed template waits while it is unchanged": {
    template: template("120", { ...claim.annotations, [ACTIVATED_TEMPLATE]: now }, claim.labels),
    want: "later",
  },
  "a claimed template is activated when it changes": {
    template: template("120", { ...claim.annotations, [ACTIVATED_TEMPLATE]: "old" }, claim.labels),
    want: "now",
  },
  "a binding stays while the template is unchanged": {
    template: template("120"),
    binding: binding(now),
    want: "later",
  },
  "a binding is updated when the template changes": {
    template: template("120"),
    binding: binding("old"),
    want: "now",
  },
  "a binding without a digest starts with the current template": {
    template: template("120"),
    binding: binding(),
    want: "later",
  },
};
for (const [behaviour, { template: object, binding: bound, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(planActivation(policy, object, bound).when).toBe(want);
  });
}

test("a policy that is not lazy takes effect at once and stores no digest", () => {
  expect(planActivation(makePolicy("shop/all").build(), template("1"), undefined)).toEqual({ when: "now" });
});

describe("the digest of a template", () => {
  test("does not depend on status, resourceVersion, claim or field order", () => {
    const { apiVersion, kind, metadata, ...rest } = template(
      "7",
      { "propagationpolicy.karmada.io/name": "a", "deployment.kubernetes.io/revision": "2" },
      { [POLICY_ID]: "x" },
    );

    expect(
      digestOf({
        ...rest,
        status: { replicas: 1 },
        metadata: { ...metadata, generation: 9, managedFields: [] },
        kind,
        apiVersion,
      } as KubernetesObject),
    ).toBe(now);
  });

  test("depends on the fields that users write", () => {
    expect(digestOf(template("1", {}, { app: "other" }))).not.toBe(now);
    expect(digestOf(makeDeployment("shop/web").replicas(2).build())).not.toBe(now);
  });
});
