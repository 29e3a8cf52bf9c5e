import { expect, test } from "vitest";
import {
  implicitPriority,
  matchesResource,
  overridePriority,
  type ResourceSelector,
  type SelectableResource,
} from "./resource-selector.ts";

const web: SelectableResource = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
};
const deployments = { apiVersion: "apps/v1", kind: "Deployment" };

const cases: Record<string, { selectors: ResourceSelector[]; want: number }> = {
  "an empty selector list selects nothing": { selectors: [], want: 0 },
  "a kind selects all its objects": { selectors: [deployments], want: 1 },
  "a kind in another version is another kind": { selectors: [{ ...deployments, apiVersion: "apps/v1beta1" }], want: 0 },
  "labels are more specific than a kind": {
    selectors: [{ ...deployments, labelSelector: { matchLabels: { app: "web" } } }],
    want: 2,
  },
  "an empty label selector counts as labels": { selectors: [{ ...deployments, labelSelector: {} }], want: 2 },
  "labels that do not match select nothing": {
    selectors: [{ ...deployments, labelSelector: { matchLabels: { app: "db" } } }],
    want: 0,
  },
  "a name is most specific": { selectors: [{ ...deployments, name: "web" }], want: 3 },
  "labels are ignored next to a name": {
    selectors: [{ ...deployments, name: "web", labelSelector: { matchLabels: { app: "db" } } }],
    want: 3,
  },
  "another name selects nothing, regardless of labels": {
    selectors: [{ ...deployments, name: "db", labelSelector: {} }],
    want: 0,
  },
  "another namespace selects nothing": { selectors: [{ ...deployments, namespace: "bank" }], want: 0 },
  "the best of several selectors counts": {
    selectors: [deployments, { ...deployments, name: "web" }, { ...deployments, labelSelector: {} }],
    want: 3,
  },
};
const accounts = { apiVersion: "v1", kind: "ServiceAccount" };
const ofDefault: Record<string, { selectors: ResourceSelector[]; want: number }> = {
  "by its kind": { selectors: [accounts], want: 0 },
  "by an empty label selector": { selectors: [{ ...accounts, labelSelector: {} }], want: 0 },
  "by its name": { selectors: [accounts, { ...accounts, name: "default" }], want: 3 },
  "by its labels": { selectors: [{ ...accounts, labelSelector: { matchLabels: { app: "web" } } }], want: 2 },
};
for (const [way, { selectors, want }] of Object.entries(ofDefault))
  test(`the ServiceAccount default, which every cluster creates, is ${want > 0 ? "" : "not "}selected ${way}`, () => {
    const account = { ...accounts, metadata: { ...web.metadata, name: "default" } };

    expect(implicitPriority(account, selectors)).toBe(want);
    expect(implicitPriority({ ...account, metadata: { ...account.metadata, name: "robot" } }, [accounts])).toBe(1);
    expect(overridePriority(account, [accounts])).toBe(1);
  });

for (const [behaviour, { selectors, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(implicitPriority(web, selectors)).toBe(want);
    expect(matchesResource(web, selectors)).toBe(want > 0);
  });
}
