import { describe, expect, test } from "vitest";
import type { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import { POLICY_ID } from "@flotilla/karmada";
import { claimMetadata, planMatch } from "../propagation/match/plan-match.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { explainPolicies } from "./explain-policies.ts";
import { viewsOf } from "./snapshot.ts";
import type { FleetSnapshot } from "./snapshot.ts";

const nothing: FleetSnapshot = {
  clusters: [],
  policies: [],
  clusterPolicies: [],
  overridePolicies: [],
  clusterOverridePolicies: [],
  priorityClasses: [],
  bindings: [],
  clusterBindings: [],
  quotas: [],
  rollouts: [],
  strategies: [],
  leads: [],
  works: [],
  templates: [],
};
const policy = (name: string, selected?: string, priority = 0): PropagationPolicy =>
  makePolicy(`shop/${name}`)
    .selects("apps/v1", "Deployment", selected)
    .with(({ spec }) => (spec.priority = priority))
    .build();
const clusterPolicy = (name: string): ClusterPropagationPolicy => ({
  ...policy(name, undefined, 9),
  kind: "ClusterPropagationPolicy",
  metadata: { name },
});

describe("explains why a policy was not chosen", () => {
  const cases: Record<
    string,
    { policies: PropagationPolicy[]; clusterPolicies?: ClusterPropagationPolicy[]; want: string[] }
  > = {
    "lower priority": {
      policies: [policy("a", "web", 1), policy("b", "web", 2)],
      want: ["b", "a: its priority 1 is lower than 2"],
    },
    "less specific selector": {
      policies: [policy("a"), policy("b", "web")],
      want: ["b", "a: it selects by kind, which is less specific than selecting by name"],
    },
    "later name": {
      policies: [policy("b", "web"), policy("a", "web")],
      want: ["a", "b: all else being equal, the alphabetically first name wins"],
    },
    "selects other objects": {
      policies: [policy("a", "db"), policy("b", "web")],
      want: ["b", "a: it selects other objects of this kind"],
    },
    "cluster policy loses to a namespaced policy": {
      policies: [policy("a")],
      clusterPolicies: [clusterPolicy("base")],
      want: ["a", "base: namespaced policies take precedence over cluster policies"],
    },
    "no policy was chosen": {
      policies: [policy("a", "db")],
      want: ["none", "a: it selects other objects of this kind"],
    },
  };
  for (const [behaviour, { policies, clusterPolicies = [], want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const views = viewsOf({ ...nothing, policies, clusterPolicies });
      const template = makeDeployment("shop/web").build();

      const { policy: winner, otherPolicies } = await explainPolicies(
        views,
        template,
        planMatch({ template, policies, clusterPolicies }),
      );

      expect([winner?.name ?? "none", ...otherPolicies.map(({ name, reason }) => `${name}: ${reason}`)]).toEqual(want);
    });
  }
});

test("a policy that selects another version of the kind is listed once", async () => {
  const other = makePolicy("shop/a").selects("apps/v1beta1", "Deployment", "web").build();
  const views = viewsOf({ ...nothing, policies: [other] });
  const template = makeDeployment("shop/web").build();

  const { policy: winner, otherPolicies } = await explainPolicies(
    views,
    template,
    planMatch({ template, ...(await views.policies.candidates(template)) }),
  );

  expect([winner?.name, otherPolicies]).toEqual(["a", []]);
});

test("a policy that selects the kind in a version that the hub does not serve is listed with that reason", async () => {
  const legacy = makePolicy("shop/a").selects("apps/v1beta1", "Deployment", "web").build();
  const views = viewsOf({
    ...nothing,
    policies: [legacy, policy("b")],
    unserved: [{ apiVersion: "apps/v1beta1", kind: "Deployment" }],
  });
  const template = makeDeployment("shop/web").build();

  const { policy: winner, otherPolicies } = await explainPolicies(
    views,
    template,
    planMatch({ template, ...(await views.policies.candidates(template)) }),
  );

  expect([winner?.name, otherPolicies.map(({ name, reason }) => `${name}: ${reason}`)]).toEqual([
    "b",
    ["a: it selects Deployment in apps/v1beta1, which the hub does not serve"],
  ]);
});

describe("explains why a policy has not taken a resource from the policy that claimed it", () => {
  const preempting = (name: string, priority: number): PropagationPolicy => ({
    ...policy(name, "web", priority),
    spec: { ...policy(name, "web", priority).spec, preemption: "Always" },
  });
  const cases: Record<string, { claimant: PropagationPolicy; other: PropagationPolicy; want: string }> = {
    "the name of the other sorts later": {
      claimant: policy("alpha", "web"),
      other: policy("zeta", "web"),
      want: "all else being equal, the alphabetically first name wins",
    },
    "the other has a lower priority": {
      claimant: policy("zeta", "web", 2),
      other: preempting("alpha", 1),
      want: "its priority 1 is lower than 2",
    },
    "the other is less specific": {
      claimant: policy("zeta", "web"),
      other: policy("alpha"),
      want: "it selects by kind, which is less specific than selecting by name",
    },
    "the other takes precedence and does not preempt": {
      claimant: policy("zeta", "web"),
      other: policy("alpha", "web", 2),
      want: "it would take precedence, but the resource was claimed before this one selected it, and this one does not preempt",
    },
  };
  for (const [behaviour, { claimant, other, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      claimant.metadata.labels = { [POLICY_ID]: "claimant" };
      const policies = [claimant, other];
      const template = makeDeployment("shop/web").build();
      template.metadata = { ...template.metadata, ...claimMetadata(claimant) };

      const { policy: winner, otherPolicies } = await explainPolicies(
        viewsOf({ ...nothing, policies }),
        template,
        planMatch({ template, policies, clusterPolicies: [] }),
      );

      expect([winner?.name, otherPolicies.map(({ reason }) => reason)]).toEqual([claimant.metadata.name, [want]]);
    });
  }
});
