import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { formatReferences, mayBeNeeded, needOf, placeOf, placesOf, referencesOf, refersTo } from "./references.ts";

const noting = (text: string, propagateDeps = true) =>
  makeBinding(makeDeployment("shop/web").build())
    .with(({ metadata, spec }) => {
      metadata.annotations = { "resourcebinding.karmada.io/dependencies": text };
      spec.propagateDeps = propagateDeps;
    })
    .build();
const map = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" };

test("formats references as Karmada does, and parses them back", () => {
  const references = [
    { ...map, labelSelector: undefined } as never,
    { apiVersion: "v1", kind: "Secret", namespace: "shop", labelSelector: { matchLabels: { a: "b" } } },
  ];
  const text =
    '[{"apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"settings"},{"apiVersion":"v1","kind":' +
    '"Secret","namespace":"shop","labelSelector":{"matchLabels":{"a":"b"}}}]';

  expect(formatReferences(references)).toBe(text);
  expect(referencesOf(noting(text))).toEqual(JSON.parse(text));
});

test.each(["{", "null", "{}", "[1]", '[{"apiVersion":1}]', '[{"apiVersion":"v1","kind":"ConfigMap"}]'])(
  "an annotation with value %s has no references",
  (text) => {
    expect(referencesOf(noting(text))).toEqual([]);
  },
);

test("a binding without propagateDeps, or being deleted, has no references", () => {
  const going = noting(`[${JSON.stringify(map)}]`);
  going.metadata.deletionTimestamp = "2024-05-01T12:00:00Z";

  expect(referencesOf(noting(`[${JSON.stringify(map)}]`, false))).toEqual([]);
  expect(referencesOf(going)).toEqual([]);
});

test.each([
  { reference: { ...map, namespace: "karmada-cluster" }, why: "the members' credentials" },
  { reference: { ...map, namespace: "karmada-es-oslo" }, why: "a member's Works" },
  {
    reference: { apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", name: "oslo" },
    why: "the control plane's own kinds",
  },
  { reference: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop" }, why: "nothing" },
])("rejects references to $why", ({ reference }) => {
  expect(mayBeNeeded(reference)).toBe(false);
});

test("a reference matches an object in any version, by name or by labels", () => {
  const object = {
    apiVersion: "apps/v1",
    kind: "Widget",
    metadata: { namespace: "shop", name: "a", labels: { a: "b" } },
  };
  const widget = { apiVersion: "apps/v2", kind: "Widget", namespace: "shop" };

  expect(refersTo({ ...widget, name: "a" }, object)).toBe(true);
  expect(refersTo({ ...widget, name: "b" }, object)).toBe(false);
  expect(refersTo({ ...widget, labelSelector: { matchLabels: { a: "b" } } }, object)).toBe(true);
  expect(refersTo({ ...widget, labelSelector: { matchLabels: { a: "c" } } }, object)).toBe(false);
  expect(refersTo({ ...widget, namespace: "other", name: "a" }, object)).toBe(false);
  expect(
    placesOf([
      { ...widget, name: "a" },
      { ...widget, labelSelector: {} },
    ]),
  ).toEqual([placeOf({ ...object, namespace: "shop" }, "a"), placeOf({ ...object, namespace: "shop" })]);
});

describe("the need of a binding's resource for an object", () => {
  const needing = (namespace: string | undefined, ...references: object[]): ResourceBinding =>
    makeBinding(makeDeployment("shop/web").build())
      .with((binding) => {
        if (namespace === undefined) delete binding.metadata.namespace;
        else binding.metadata.namespace = namespace;
        binding.spec.propagateDeps = true;
        binding.metadata.annotations = { "resourcebinding.karmada.io/dependencies": JSON.stringify(references) };
      })
      .build();
  const secret = (annotations: Record<string, string> = {}): KubernetesObject => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "bank", name: "key", uid: "k", annotations },
  });
  const toSecret = { apiVersion: "v1", kind: "Secret", namespace: "bank", name: "key" };
  const namespace = (name: string): KubernetesObject => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, uid: name, annotations: { "flotilla.dev/shared-with": "*" } },
  });

  const cases: Record<string, { binding: ResourceBinding; object: KubernetesObject; want: string }> = {
    "is none without a reference": { binding: needing("bank"), object: secret(), want: "none" },
    "is met in the same namespace": { binding: needing("bank", toSecret), object: secret(), want: "met" },
    "is withheld in another namespace": { binding: needing("shop", toSecret), object: secret(), want: "withheld" },
    "is met when the object is shared with the namespace": {
      binding: needing("shop", toSecret),
      object: secret({ "flotilla.dev/shared-with": "web , shop" }),
      want: "met",
    },
    "is met when the object is shared with all namespaces": {
      binding: needing("shop", toSecret),
      object: secret({ "flotilla.dev/shared-with": "*" }),
      want: "met",
    },
    "is withheld when only namespaces with a similar name are shared with": {
      binding: needing("shop", toSecret),
      object: secret({ "flotilla.dev/shared-with": "shop-test,sho" }),
      want: "withheld",
    },
    "is met for a cluster-scoped resource": { binding: needing(undefined, toSecret), object: secret(), want: "met" },
    "is withheld for system namespaces of clusters": {
      binding: needing(undefined, { apiVersion: "v1", kind: "Namespace", name: "kube-system" }),
      object: namespace("kube-system"),
      want: "withheld",
    },
  };
  for (const [behaviour, { binding, object, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(needOf(binding, object)).toBe(want);
    });
  }
});
