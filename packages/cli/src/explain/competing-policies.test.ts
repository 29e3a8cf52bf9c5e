import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import type { Applied } from "./apply-input.ts";
import { competingPolicies } from "./competing-policies.ts";

const web = { template: makeDeployment("shop/web").build() };
const applied = (object: object, outcome: Applied["outcome"] = "created", before?: object): Applied => ({
  object: object as KubernetesObject,
  before: before as KubernetesObject,
  kind: {} as Applied["kind"],
  outcome,
});
const policy = (name: string, kind = "Deployment", version = "apps/v1"): object =>
  makePolicy(`shop/${name}`).selects(version, kind).duplicates("member1").build();

test("a resource that two changed policies select is named with both", () => {
  expect(competingPolicies([web], [applied(policy("a")), applied(policy("b"))])).toEqual([
    "Deployment shop/web: PropagationPolicy shop/a and PropagationPolicy shop/b change together and select it, " +
      "so another of them than planned may claim it with what it depends on: the first that the hub reads; apply " +
      "them one after the other to be certain",
  ]);
});

test("a policy that selected it before the change competes, too", () => {
  const left = applied(policy("a", "StatefulSet"), "changed", policy("a"));

  expect(competingPolicies([web], [left, applied(policy("b"))])).toHaveLength(1);
});

test("policies in another version of the kind compete", () => {
  const set = { template: { ...makeCloneSet("shop/web").build(), apiVersion: "apps.kruise.io/v1beta1" } };
  const versions = ["apps.kruise.io/v1alpha1", "apps.kruise.io/v1beta1"];

  expect(
    competingPolicies(
      [set],
      versions.map((version, index) => applied(policy(`p${index}`, "CloneSet", version))),
    ),
  ).toHaveLength(1);
});

test("a policy in a version that the hub does not serve does not compete", () => {
  const unserved = [{ apiVersion: "apps/v1beta1", kind: "Deployment" }];
  const old = policy("b", "Deployment", "apps/v1beta1");

  expect(competingPolicies([web], [applied(policy("a")), applied(old)], unserved)).toEqual([]);
});

test("policies of other kinds and namespaces, and unchanged ones, do not compete", () => {
  const elsewhere = makePolicy("other/b").selects("apps/v1", "Deployment").build();

  for (const other of [applied(policy("b", "Job")), applied(elsewhere), applied(policy("b"), "unchanged")])
    expect(competingPolicies([web], [applied(policy("a")), other])).toEqual([]);
});
