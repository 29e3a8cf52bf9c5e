import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { makeBinding, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import type { Applied } from "./apply-input.ts";
import { versionsBetween } from "./versions-between.ts";

const template = makeDeployment("shop/web").replicas(2).build();
const binding = makeBinding(template).build();
const planned = { template, binding: { ...binding, spec: { ...binding.spec, replicas: 2 } } };
const quota = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "FederatedResourceQuota",
  metadata: { namespace: "shop", name: "team" },
};
const applied = (object: object, before?: object): Applied => ({
  object: object as KubernetesObject,
  before: before as KubernetesObject,
  kind: {} as Applied["kind"],
  outcome: before ? "changed" : "created",
});
const policy = applied(makePolicy("shop/web").selects("apps/v1", "Deployment").build());

test("a workload that waits for a quota which the same files raise may be placed as it is before its change", () => {
  expect(versionsBetween([planned], [quota], [applied(quota, quota), applied(template, template)])).toEqual([
    "Deployment shop/web: these files change policies, overrides or quotas first, so FederatedResourceQuota " +
      "team counts it once as it is now: it may be placed, or held back, with the version before its change",
  ]);
});

test("so may one whose policy the same files change", () => {
  expect(versionsBetween([planned], [quota], [policy, applied(template, template)])).toHaveLength(1);
});

test.each([
  ["is new", [quota], [policy, applied(template)]],
  ["changes alone", [quota], [applied(template, template)]],
  ["has no quota", [], [policy, applied(template, template)]],
])("a workload that %s has no version in between", (_, quotas, all) => {
  expect(versionsBetween([planned], quotas, all)).toEqual([]);
});
