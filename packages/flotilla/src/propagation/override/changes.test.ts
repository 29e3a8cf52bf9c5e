import { expect, test } from "vitest";
import type { OverridePolicy } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { mayConcern } from "./changes.ts";

const binding = makeBinding(makeDeployment("shop/web").build()).build();
type Selectors = NonNullable<OverridePolicy["spec"]["resourceSelectors"]>;

const cases: Record<string, { resourceSelectors?: Selectors; want: boolean }> = {
  "a policy without selectors concerns every object": { want: true },
  "a selector of the kind concerns it, regardless of its label selector": {
    resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", labelSelector: { matchLabels: { a: "b" } } }],
    want: true,
  },
  "a selector of the name concerns it": {
    resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
    want: true,
  },
  "a selector of another name does not": {
    resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "cart" }],
    want: false,
  },
  "a selector of another kind does not": { resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap" }], want: false },
};
for (const [behaviour, { resourceSelectors, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(mayConcern({ spec: { overrideRules: [], resourceSelectors } }, binding)).toBe(want);
  });
}
