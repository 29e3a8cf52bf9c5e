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

const namesOf = (quotas: readonly KubernetesObject[], all: readonly Applied[]): string[] =>
  versionsBetween({ templates: [planned], quotas, applied: all, created: [], retainRuleOf: () => undefined });

test("a workload that waits for a quota which the same files raise may be placed as it is before its change", () => {
  expect(namesOf([quota], [applied(quota, quota), applied(template, template)])).toEqual([
    "Deployment shop/web: these files change policies, overrides or quotas first, so FederatedResourceQuota " +
      "team counts it once as it is now: it may be placed, or held back, with the version before its change",
  ]);
});

test("so may one whose policy the same files change", () => {
  expect(namesOf([quota], [policy, applied(template, template)])).toHaveLength(1);
});

test.each([
  ["is new", [quota], [policy, applied(template)]],
  ["changes alone", [quota], [applied(template, template)]],
  ["has no quota", [], [policy, applied(template, template)]],
])("a workload that %s has no version in between", (_, quotas, all) => {
  expect(namesOf(quotas, all)).toEqual([]);
});

const { apiVersion, kind } = template;
const copyOn = (cluster: string) => ({ cluster, object: { apiVersion, kind, namespace: "shop", name: "web" } });
const retainedNotes = (created: ReturnType<typeof copyOn>[], rule: string | undefined, all: readonly Applied[]) =>
  versionsBetween({ templates: [planned], quotas: [], applied: all, created, retainRuleOf: () => rule });

test("a Retain rule may keep values that a new copy has before the change of its object", () => {
  const moved = [policy, applied(template, template)];

  expect(retainedNotes([copyOn("member1"), copyOn("member3")], "web", moved)).toEqual([
    "Deployment shop/web: these files change policies, overrides or quotas first, so member1, member3 may get it as it is " +
      "now, and the Retain rule of web may keep values of that copy, with the version before its change",
  ]);
  expect(retainedNotes([], "web", moved)).toEqual([]);
  expect(retainedNotes([copyOn("member1")], undefined, moved)).toEqual([]);
  expect(retainedNotes([copyOn("member1")], "web", [policy])).toEqual([]);
});
