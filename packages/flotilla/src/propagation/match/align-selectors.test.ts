import { expect, test } from "vitest";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { alignSelectors, askedVersion } from "./align-selectors.ts";

const template = makeCloneSet("shop/web").build(); // In v1beta1.
const everyVersion = (): boolean => true;
const thisVersion = (): boolean => false;

test("a selector in another version of the kind selects the same object", () => {
  const policy = makePolicy("shop/all")
    .selects("apps.kruise.io/v1alpha1", "CloneSet")
    .selects("apps/v1", "Deployment")
    .build();

  expect(alignSelectors(policy, template, everyVersion).spec.resourceSelectors).toEqual([
    { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" },
    { apiVersion: "apps/v1", kind: "Deployment" },
  ]);
});

test("a policy in the template's version is used unchanged", () => {
  const policy = makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet").build();

  expect(alignSelectors(policy, template, everyVersion)).toBe(policy);
});

test("members get the version that the matching selector specifies", () => {
  const policy = makePolicy("shop/all")
    .selects("apps.kruise.io/v1alpha1", "CloneSet", "other")
    .selects("apps.kruise.io/v1alpha1", "CloneSet", "web")
    .build();

  expect(askedVersion(policy, template, everyVersion)).toBe("apps.kruise.io/v1alpha1");
});

test("a selector in a version that is not served keeps its version, and the next one specifies the members' version", () => {
  const policy = makePolicy("shop/all")
    .selects("apps.kruise.io/v1alpha1", "CloneSet", "web")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .build();

  expect(alignSelectors(policy, template, thisVersion)).toBe(policy);
  expect(askedVersion(policy, template, thisVersion)).toBe("apps.kruise.io/v1beta1");
});
