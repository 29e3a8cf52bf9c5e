import { expect, test } from "vitest";
import type { PropagationPolicy } from "@flotilla/karmada";
import { findTies, possibleTies } from "./policy-ties.ts";
import type { SharedObjects } from "./policy-ties.ts";

type Selector = PropagationPolicy["spec"]["resourceSelectors"][number];
const deployments = { apiVersion: "apps/v1", kind: "Deployment" };
const ofKind: Selector = deployments;
const labelled = (matchLabels: Record<string, string>): Selector => ({
  ...deployments,
  labelSelector: { matchLabels },
});
const policy = (name: string, ...resourceSelectors: Selector[]) => ({
  metadata: { namespace: "shop", name },
  spec: { resourceSelectors },
});
/** Of policy `a` with one other; `labelled` is what the lookup finds for different labels. */
function tie(a: Selector, b: Selector, found?: string): (string | undefined)[] {
  return findTies(policy("a", a), [policy("b", b)], { findObject: () => found }).map(({ object }) => object ?? "all");
}

const cases: Record<string, { a: Selector; b: Selector; found?: string; want: string[] }> = {
  "select the same by kind": { a: ofKind, b: ofKind, want: ["all"] },
  "select the same by kind in two versions": {
    a: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" },
    b: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" },
    want: ["all"],
  },
  "select kinds of the same name in two groups": {
    a: { apiVersion: "apps/v1", kind: "StatefulSet" },
    b: { apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet" },
    want: [],
  },
  "select one name": {
    a: { ...ofKind, name: "web" },
    b: { ...ofKind, ...labelled({ a: "1" }), name: "web" },
    want: ["all"],
  },
  "select two names": { a: { ...ofKind, name: "web" }, b: { ...ofKind, name: "cart" }, want: [] },
  "select by name and by kind": { a: { ...ofKind, name: "web" }, b: ofKind, want: [] },
  "select by labels and by kind": { a: labelled({ app: "web" }), b: ofKind, found: "Deployment web", want: [] },
  "select two namespaces": { a: { ...ofKind, namespace: "shop" }, b: { ...ofKind, namespace: "blog" }, want: [] },
  "select a namespace and all": { a: { ...ofKind, namespace: "shop" }, b: ofKind, want: ["all"] },
  "select by different labels that an object has": {
    a: labelled({ app: "web" }),
    b: labelled({ tier: "front" }),
    found: "Deployment web",
    want: ["Deployment web"],
  },
  "select by different labels that no object has": {
    a: labelled({ app: "web" }),
    b: labelled({ tier: "front" }),
    want: [],
  },
  "select two values of a label": {
    a: labelled({ app: "web" }),
    b: labelled({ app: "cart", tier: "front" }),
    found: "never looked up",
    want: [],
  },
  "have an invalid selector": {
    a: labelled({ app: "web" }),
    b: { ...deployments, labelSelector: { matchExpressions: [{ key: "a", operator: "Near" }] } },
    found: "never looked up",
    want: [],
  },
};
for (const [name, { a, b, found, want }] of Object.entries(cases))
  test(`two policies that ${name}`, () => expect(tie(a, b, found)).toEqual(want));

test("a selector in a version that the hub does not serve ties with none, unless the hub serves no version yet", () => {
  const others = [policy("b", ofKind), policy("c", { ...deployments, apiVersion: "apps/v1beta1" })];
  const tied = (versions: string[], first: Selector): string[] =>
    findTies(policy("a", first), others, {
      findObject: () => undefined,
      served: { versions: () => versions, kinds: () => [] },
    }).map(({ competitor }) => competitor.metadata.name);

  expect(tied(["v1"], ofKind)).toEqual(["b"]);
  expect(tied(["v1"], { ...deployments, apiVersion: "apps/v1beta1" })).toEqual([]);
  expect(tied([], ofKind)).toEqual(["b", "c"]);
});

test("what two policies select by labels is looked up once for both", () => {
  const shared: SharedObjects[] = possibleTies(policy("a", labelled({ app: "web" }), ofKind), [
    policy("b", labelled({ tier: "front" }), ofKind),
  ]);

  expect(shared).toEqual([
    {
      group: "apps",
      kind: "Deployment",
      namespace: undefined,
      labels: {
        requirements: [
          { key: "app", operator: "=", values: ["web"] },
          { key: "tier", operator: "=", values: ["front"] },
        ],
      },
    },
  ]);
});
