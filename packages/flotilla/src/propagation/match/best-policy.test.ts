import { expect, test } from "vitest";
import { chooseBestPolicy, type PolicyView } from "./best-policy.ts";

const web = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
};
const deployments = { apiVersion: "apps/v1", kind: "Deployment" };

function policy(name: string, more: { priority?: number; selector?: object; deleting?: boolean } = {}): PolicyView {
  const { priority, selector = {}, deleting = false } = more;
  return {
    metadata: { name, deletionTimestamp: deleting ? "2024-05-01T00:00:00Z" : undefined },
    spec: { resourceSelectors: [{ ...deployments, ...selector }], priority },
  };
}

const cases: Record<string, { policies: PolicyView[]; want: string | undefined }> = {
  "the larger priority wins": {
    policies: [policy("a", { selector: { name: "web" } }), policy("b", { priority: 1 })],
    want: "b",
  },
  "with equal priority the more specific selector wins": {
    policies: [
      policy("a"),
      policy("b", { selector: { name: "web" } }),
      policy("c", { selector: { labelSelector: {} } }),
    ],
    want: "b",
  },
  "with equal specificity the first name wins": { policies: [policy("b"), policy("a"), policy("c")], want: "a" },
  "a policy that does not select the template is ignored, regardless of priority": {
    policies: [policy("a"), policy("b", { priority: 9, selector: { name: "db" } })],
    want: "a",
  },
  "a policy that is being deleted is ignored": { policies: [policy("a", { deleting: true }), policy("b")], want: "b" },
  "a negative priority loses to an unset one": { policies: [policy("a", { priority: -1 }), policy("b")], want: "b" },
  "returns undefined when no policy matches": { policies: [], want: undefined },
};
for (const [behaviour, { policies, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(chooseBestPolicy(web, policies)?.metadata.name).toBe(want);
  });
}
