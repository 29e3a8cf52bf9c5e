import { describe, expect, test } from "vitest";
import type { KubernetesObject, ResourceBinding } from "../../api/index.ts";
import { makeBinding, makeDeployment } from "../../testing/index.ts";
import { formatReferences, mayBeNeeded, needOf, placeOf, placesOf, referencesOf, refersTo } from "./references.ts";

const noting = (text: string, propagateDeps = true) =>
  makeBinding(makeDeployment("shop/web").build())
    .with(({ metadata, spec }) => {
      metadata.annotations = { "resourcebinding.karmada.io/dependencies": text };
      spec.propagateDeps = propagateDeps;
    })
    .build();
const map = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" };

test("references are written as Karmada writes them, and read back", () => {
  const references = [
    { ...map, labelSelector: undefined } as never,
    { apiVersion: "v1", kind: "Secret", namespace: "shop", labelSelector: { matchLabels: { a: "b" } } },
  ];
  const text =
    '[{"apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"settings"},{"apiVersion":"v1","kind":"Secret","namespace":"shop","labelSelector":{"matchLabels":{"a":"b"}}}]';

  expect(formatReferences(references)).toBe(text);
  expect(referencesOf(noting(text))).toEqual(JSON.parse(text));
});

test.each(["{", "null", "{}", "[1]", '[{"apiVersion":1}]', '[{"apiVersion":"v1","kind":"ConfigMap"}]'])(
  "a note that reads %s names nothing",
  (text) => {
    expect(referencesOf(noting(text))).toEqual([]);
  },
);

test("a binding that does not ask for dependencies, or is going, needs nothing", () => {
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
])("nobody can need $why", ({ reference }) => {
  expect(mayBeNeeded(reference)).toBe(false);
});

test("a reference is about an object of any version, by name or by labels", () => {
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

describe("what a binding's resource has to do with an object", () => {
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
    "nothing, when it does not name it": { binding: needing("bank"), object: secret(), want: "none" },
    "it has what is in its namespace": { binding: needing("bank", toSecret), object: secret(), want: "met" },
    "it has not what is in another": { binding: needing("shop", toSecret), object: secret(), want: "withheld" },
    "unless it is shared with its namespace": {
      binding: needing("shop", toSecret),
      object: secret({ "flotilla.dev/shared-with": "web , shop" }),
      want: "met",
    },
    "or with all": {
      binding: needing("shop", toSecret),
      object: secret({ "flotilla.dev/shared-with": "*" }),
      want: "met",
    },
    "a namespace whose name begins alike is another one": {
      binding: needing("shop", toSecret),
      object: secret({ "flotilla.dev/shared-with": "shop-test,sho" }),
      want: "withheld",
    },
    "what is in no namespace itself has it": { binding: needing(undefined, toSecret), object: secret(), want: "met" },
    "nobody has what is every cluster's own": {
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
