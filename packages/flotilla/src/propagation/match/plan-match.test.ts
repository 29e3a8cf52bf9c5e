import { describe, expect, test } from "vitest";
import type { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { deepFreeze } from "@flotilla/base";
import { claimMetadata, claimOf, planMatch, type MatchPlan, type Policy } from "./plan-match.ts";
import { CLAIMED_BY, CLUSTER_POLICY_ID, POLICY_ID } from "@flotilla/karmada";

const selectors = [{ apiVersion: "apps/v1", kind: "Deployment" }];

function makePolicy(
  name: string,
  more: {
    namespace?: string;
    priority?: number;
    id?: string;
    deleting?: boolean;
    selects?: string;
    preempts?: boolean;
  } = {},
): PropagationPolicy {
  const { namespace = "shop", priority = 0, id = `id-of-${name}`, deleting = false, selects, preempts = false } = more;
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: {
      name,
      namespace,
      labels: { [POLICY_ID]: id },
      deletionTimestamp: deleting ? "2024-05-01T00:00:00Z" : undefined,
    },
    spec: {
      resourceSelectors: selectors.map((selector) => ({ ...selector, name: selects || undefined })),
      priority,
      preemption: preempts ? "Always" : "Never",
    },
  };
}

function makeClusterPolicy(
  name: string,
  more: { priority?: number; preempts?: boolean } = {},
): ClusterPropagationPolicy {
  const { priority = 0, preempts = false } = more;
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name, labels: { [CLUSTER_POLICY_ID]: `id-of-${name}` } },
    spec: {
      resourceSelectors: selectors.map((selector) => ({ ...selector, name: preempts ? "web" : undefined })),
      priority,
      preemption: preempts ? "Always" : "Never",
    },
  };
}

/** A template, claimed by a policy or not. */
function makeTemplate(claimant?: Policy, labels: Record<string, string> = {}): KubernetesObject {
  const claim = claimant ? claimMetadata(claimant) : { labels: {}, annotations: {} };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "web",
      namespace: "shop",
      labels: { ...labels, ...claim.labels },
      annotations: claim.annotations,
    },
  };
}

function plan(
  template: KubernetesObject,
  policies: PropagationPolicy[],
  clusterPolicies: ClusterPropagationPolicy[] = [],
): MatchPlan {
  return planMatch(deepFreeze({ template, policies, clusterPolicies }));
}

const winner = (result: MatchPlan): string =>
  result.outcome === "matched" ? result.policy.metadata.name : result.reason;

describe("an unclaimed template", () => {
  test("is claimed by the best policy of its namespace", () => {
    expect(winner(plan(makeTemplate(), [makePolicy("a"), makePolicy("b", { priority: 1 })]))).toBe("b");
  });

  test("ignores policies of other namespaces", () => {
    expect(winner(plan(makeTemplate(), [makePolicy("a", { namespace: "bank" })]))).toBe("no policy selects it");
  });

  test("prefers any policy of its namespace to a cluster policy", () => {
    expect(winner(plan(makeTemplate(), [makePolicy("a", { priority: -5 })], [makeClusterPolicy("c")]))).toBe("a");
  });

  test("is claimed by a cluster policy when its namespace has none", () => {
    expect(winner(plan(makeTemplate(), [], [makeClusterPolicy("c")]))).toBe("c");
  });
});

describe("a claimed template", () => {
  const better = makePolicy("better", { priority: 10 });

  test("stays with its policy when a better one is created", () => {
    const own = makePolicy("own");

    expect(plan(makeTemplate(own), [own, better])).toMatchObject({ policy: { metadata: { name: "own" } }, kept: true });
  });

  test("stays with its cluster policy when its namespace gets a policy", () => {
    const own = makeClusterPolicy("own");

    expect(winner(plan(makeTemplate(own), [better], [own]))).toBe("own");
  });

  const losses: Record<string, PropagationPolicy[]> = {
    "no longer exists": [],
    "is being deleted": [makePolicy("own", { deleting: true })],
    "no longer selects it": [makePolicy("own", { selects: "db" })],
    "was replaced by another of the same name": [makePolicy("own", { id: "another" })],
  };
  for (const [loss, policies] of Object.entries(losses)) {
    test(`is released when its policy ${loss}`, () => {
      expect(plan(makeTemplate(makePolicy("own")), [...policies, better])).toMatchObject({
        policy: { metadata: { name: "better" } },
        kept: false,
      });
    });
  }
});

test("a template of another controller is left alone", () => {
  expect(winner(plan(makeTemplate(undefined, { [CLAIMED_BY]: "MultiClusterService" }), [makePolicy("a")]))).toBe(
    "claimed by another controller",
  );
});

test("a claim can be read back from its metadata", () => {
  expect(claimOf(makeTemplate(makePolicy("own")))).toEqual({
    scope: "namespace",
    namespace: "shop",
    name: "own",
    id: "id-of-own",
  });
  expect(claimOf(makeTemplate(makeClusterPolicy("own")))).toEqual({ scope: "cluster", name: "own", id: "id-of-own" });
  expect(claimOf(makeTemplate())).toBeUndefined();
});

describe("a preempting policy", () => {
  const competitor = { selects: "web", preempts: true };
  const cases: Record<
    string,
    { own: Policy; policies?: PropagationPolicy[]; clusterPolicies?: ClusterPropagationPolicy[]; want: string }
  > = {
    "preempts a policy of lower priority": {
      own: makePolicy("own"),
      policies: [makePolicy("competitor", { ...competitor, priority: 1 })],
      want: "competitor",
    },
    "does not preempt a policy of the same priority": {
      own: makePolicy("own", { priority: 1 }),
      policies: [makePolicy("competitor", { ...competitor, priority: 1 })],
      want: "own",
    },
    "does not preempt without selecting by name": {
      own: makePolicy("own"),
      policies: [makePolicy("competitor", { preempts: true, priority: 1 })],
      want: "own",
    },
    "does not preempt while it is being deleted": {
      own: makePolicy("own"),
      policies: [makePolicy("competitor", { ...competitor, priority: 1, deleting: true })],
      want: "own",
    },
    "of a namespace preempts a cluster policy of any priority": {
      own: makeClusterPolicy("own", { priority: 9 }),
      policies: [makePolicy("competitor", competitor)],
      want: "competitor",
    },
    "of the cluster preempts another cluster policy": {
      own: makeClusterPolicy("own"),
      clusterPolicies: [makeClusterPolicy("competitor", { priority: 1, preempts: true })],
      want: "competitor",
    },
    "of the cluster does not preempt a namespaced policy": {
      own: makePolicy("own"),
      clusterPolicies: [makeClusterPolicy("competitor", { priority: 9, preempts: true })],
      want: "own",
    },
    "wins over another preempting policy by its priority": {
      own: makePolicy("own"),
      policies: [
        makePolicy("competitor", { ...competitor, priority: 1 }),
        makePolicy("strong", { ...competitor, priority: 2 }),
      ],
      want: "strong",
    },
  };
  for (const [behaviour, { own, policies = [], clusterPolicies = [], want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const isCluster = own.kind === "ClusterPropagationPolicy";
      const result = plan(
        makeTemplate(own),
        isCluster ? policies : [own as PropagationPolicy, ...policies],
        isCluster ? [own as ClusterPropagationPolicy, ...clusterPolicies] : clusterPolicies,
      );

      expect(winner(result)).toBe(want);
      expect(result).toMatchObject(
        want === "own" ? { kept: true } : { kept: false, preempted: { metadata: { name: "own" } } },
      );
    });
  }
});

describe("a cluster-scoped template", () => {
  const sidecarSet: KubernetesObject = {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "SidecarSet",
    metadata: { name: "logs" },
  };
  const selecting = <P extends Policy>(policy: P, namespace?: string): P => ({
    ...policy,
    spec: {
      ...policy.spec,
      resourceSelectors: [
        { apiVersion: "apps.kruise.io/v1beta1", kind: "SidecarSet", namespace: namespace || undefined },
      ],
    },
  });

  test("is claimed by a cluster policy before any namespaced policy", () => {
    expect(
      winner(
        plan(sidecarSet, [selecting(makePolicy("a", { priority: 9 }), "shop")], [selecting(makeClusterPolicy("c"))]),
      ),
    ).toBe("c");
  });

  test("is claimed by a namespaced policy where its kind allows that", () => {
    expect(winner(plan(sidecarSet, [selecting(makePolicy("a"), "shop")]))).toBe("a");
  });

  test("a cluster-scoped template of another kind is not claimed by a namespaced policy", () => {
    const role: KubernetesObject = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "reader" },
    };
    const policy = makePolicy("a");
    policy.spec.resourceSelectors = [{ apiVersion: role.apiVersion, kind: role.kind, namespace: "shop" }];

    expect(winner(plan(role, [policy]))).toBe("no policy selects it");
  });
});
