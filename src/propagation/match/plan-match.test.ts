import { describe, expect, test } from "vitest";
import type { ClusterPropagationPolicy, KubernetesObject, PropagationPolicy } from "../../api/index.ts";
import { deepFreeze } from "../../base/index.ts";
import { CLUSTER_POLICY_ID, POLICY_ID } from "../well-known.ts";
import { CLAIMED_BY, claimMetadata, claimOf, planMatch, type MatchPlan, type Policy } from "./plan-match.ts";

const selectors = [{ apiVersion: "apps/v1", kind: "Deployment" }];

function makePolicy(name: string, more: { namespace?: string; priority?: number; id?: string; deleting?: boolean; selects?: string } = {}): PropagationPolicy {
  const { namespace = "shop", priority = 0, id = `id-of-${name}`, deleting = false, selects } = more;
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name, namespace, labels: { [POLICY_ID]: id }, ...(deleting && { deletionTimestamp: "2024-05-01T00:00:00Z" }) },
    spec: { resourceSelectors: selectors.map((selector) => ({ ...selector, ...(selects && { name: selects }) })), priority },
  };
}

function makeClusterPolicy(name: string): ClusterPropagationPolicy {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name, labels: { [CLUSTER_POLICY_ID]: `id-of-${name}` } },
    spec: { resourceSelectors: selectors },
  };
}

/** A template, claimed by a policy or not. */
function makeTemplate(claimant?: Policy, labels: Record<string, string> = {}): KubernetesObject {
  const claim = claimant ? claimMetadata(claimant) : { labels: {}, annotations: {} };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "shop", labels: { ...labels, ...claim.labels }, annotations: claim.annotations } };
}

function plan(template: KubernetesObject, policies: PropagationPolicy[], clusterPolicies: ClusterPropagationPolicy[] = []): MatchPlan {
  return planMatch(deepFreeze({ template, policies, clusterPolicies }));
}

const winner = (result: MatchPlan): string => (result.outcome === "matched" ? result.policy.metadata.name : result.reason);

describe("an unclaimed template", () => {
  test("goes to the best policy of its namespace", () => {
    expect(winner(plan(makeTemplate(), [makePolicy("a"), makePolicy("b", { priority: 1 })]))).toBe("b");
  });

  test("does not see policies of other namespaces", () => {
    expect(winner(plan(makeTemplate(), [makePolicy("a", { namespace: "bank" })]))).toBe("no policy selects it");
  });

  test("prefers any policy of its namespace to a cluster policy", () => {
    expect(winner(plan(makeTemplate(), [makePolicy("a", { priority: -5 })], [makeClusterPolicy("c")]))).toBe("a");
  });

  test("goes to a cluster policy when its namespace has none", () => {
    expect(winner(plan(makeTemplate(), [], [makeClusterPolicy("c")]))).toBe("c");
  });
});

describe("a claimed template", () => {
  const better = makePolicy("better", { priority: 10 });

  test("stays with its policy when a better one comes", () => {
    const own = makePolicy("own");

    expect(plan(makeTemplate(own), [own, better])).toMatchObject({ policy: { metadata: { name: "own" } }, kept: true });
  });

  test("stays with its cluster policy when its namespace gets one", () => {
    const own = makeClusterPolicy("own");

    expect(winner(plan(makeTemplate(own), [better], [own]))).toBe("own");
  });

  const losses: Record<string, PropagationPolicy[]> = {
    "is gone": [],
    "is being deleted": [makePolicy("own", { deleting: true })],
    "no longer selects it": [makePolicy("own", { selects: "db" })],
    "is another one of the same name": [makePolicy("own", { id: "another" })],
  };
  for (const [loss, policies] of Object.entries(losses)) {
    test(`is free again when its policy ${loss}`, () => {
      expect(plan(makeTemplate(makePolicy("own")), [...policies, better])).toMatchObject({ policy: { metadata: { name: "better" } }, kept: false });
    });
  }
});

test("a template of another controller is left alone", () => {
  expect(winner(plan(makeTemplate(undefined, { [CLAIMED_BY]: "MultiClusterService" }), [makePolicy("a")]))).toBe("claimed by another controller");
});

test("a claim can be read back from the metadata it is written to", () => {
  expect(claimOf(makeTemplate(makePolicy("own")))).toEqual({ scope: "namespace", namespace: "shop", name: "own", id: "id-of-own" });
  expect(claimOf(makeTemplate(makeClusterPolicy("own")))).toEqual({ scope: "cluster", name: "own", id: "id-of-own" });
  expect(claimOf(makeTemplate())).toBeUndefined();
});
