import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type IngressClass } from "./ingressclass-kind.ts";
import { rules } from "./ingressclass-rules.ts";

const ingressClass = (spec: object): IngressClass => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "a" },
  spec,
});

test("parameters default to cluster scope", () => {
  expect(
    completedBy(rules, ingressClass({ controller: "a.b/c", parameters: { kind: "K", name: "n" } })).spec?.parameters
      ?.scope,
  ).toBe("Cluster");
});

const refused: Record<string, [spec: object, want: string[]]> = {
  "a missing controller": [{}, ["spec.controller: Required value"]],
  "a controller without a domain": [
    { controller: "a" },
    ['spec.controller: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  "namespaced parameters without a namespace": [
    { controller: "a.b/c", parameters: { kind: "K", name: "n", scope: "Namespace" } },
    ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
  ],
  "cluster-scoped parameters with a namespace": [
    { controller: "a.b/c", parameters: { kind: "K", name: "n", namespace: "x" } },
    ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
  ],
  "empty parameters": [
    { controller: "a.b/c", parameters: {} },
    ["spec.parameters.kind: Required value", "spec.parameters.name: Required value"],
  ],
};
for (const [what, [spec, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, ingressClass(spec))).toEqual(want);
  });
}

test("the controller of a class is immutable", () => {
  expect(problemsOf(rules, ingressClass({ controller: "x.y/z" }), ingressClass({ controller: "a.b/c" }))).toEqual([
    'spec.controller: Invalid value: "x.y/z": field is immutable',
  ]);
});
