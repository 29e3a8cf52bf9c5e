import { expect, test } from "vitest";
import type { Explanation } from "@flotilla/flotilla";
import { displayWidth } from "../text-layout.ts";
import { renderPlan } from "./render-plan.ts";
import { renderWhy } from "./render-why.ts";

const explanation: Explanation = {
  apiVersion: "explain.flotilla.dev/v1alpha1",
  kind: "Explanation",
  metadata: { namespace: "shop", name: "web-deployment" },
  resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
  policy: {
    kind: "PropagationPolicy",
    namespace: "shop",
    name: "all",
    priority: 0,
    selectsBy: "name",
    reason: "it won",
  },
  otherPolicies: [
    { kind: "ClusterPropagationPolicy", name: "base", priority: 9, selectsBy: "kind", reason: "it lost" },
  ],
  decision: {
    source: "recomputed",
    at: "2024-05-01T12:00:00Z",
    affinityName: "spare",
    failedTerms: [{ name: "main", message: "no room" }],
    kept: [{ cluster: "oslo", score: 100, available: 7, replicas: 4 }],
    rejected: [{ by: "TaintToleration", reason: "tainted", count: 12, clusters: ["paris", "rome"] }],
  },
  members: [
    {
      cluster: "oslo",
      replicas: 4,
      state: "target",
      divided: [
        { path: "spec.replicas", before: 6, after: 4 },
        { path: "spec.template.spec.containers[c].image", before: "app:2", after: "app:1" },
      ],
      overridden: [{ path: "metadata.labels.tier", after: "gold" }],
      overridePolicies: ["gold"],
      applied: true,
      health: "Healthy",
      drift: "Repaired: spec.paused was true",
      onMember: [{ path: "spec.updateStrategy.partition", before: 2, after: 0 }],
      onMemberBy: "ResourceInterpreterCustomization guide",
    },
  ],
  moves: [
    {
      from: "paris",
      cause: "Taint",
      actor: "TaintManager",
      after: ["oslo=4"],
      ended: "2024-05-01T11:00:00Z",
      ending: "replaced",
    },
  ],
  leaving: [{ cluster: "rome", reason: "Unhealthy", producer: "ApplicationFailover", since: "2024-05-01T11:59:00Z" }],
  problems: [{ what: "it is wrong", try: "do this" }],
};

test("an explanation is rendered from the problems to the moves", () => {
  expect(renderWhy(explanation)).toBe(`Deployment shop/web (apps/v1)

PROBLEMS
  it is wrong
    → do this

POLICY
  PropagationPolicy shop/all (priority 0, selects it by name): it won
  not ClusterPropagationPolicy base (priority 9, selects it by kind): it lost

CLUSTERS (computed now: the original decision is not recorded)
  uses the affinity spare
  affinity main failed: no room
  CLUSTER                   VERDICT    SCORE   ROOM   SHARE   REASON
  oslo                      kept       100     7      4
  paris, rome and 10 more   rejected   -       -      -       TaintToleration: tainted

MEMBERS
  oslo: 4 replicas, applied, healthy
    divided     spec.replicas: 6 → 4
    divided     spec.template.spec.containers[c].image: app:2 → app:1 (rolled back by partition)
    overridden  metadata.labels.tier: gold (new)
    by          gold
    drift       Repaired: spec.paused was true
    on member   spec.updateStrategy.partition: 2 → 0
    by          the Retain rule of ResourceInterpreterCustomization guide: the member decides

MOVES
  since 2024-05-01T11:59:00Z: leaving rome: Unhealthy (ApplicationFailover)
  2024-05-01T11:00:00Z: left paris for oslo=4: Taint (TaintManager), replaced`);
});

test("replicas that an autoscaler on the member decides are one line", () => {
  const replicas = { path: "spec.replicas", before: 3, after: 1 };
  const members = explanation.members.map((member) => ({
    ...member,
    onMember: [replicas],
    autoscaler: { name: "HorizontalPodAutoscaler busy", asked: 3, replicas: 1 },
  }));

  const lines = renderWhy({ ...explanation, members }).split("\n");

  expect(lines.filter((line) => line.includes("spec.replicas: 3 → 1"))).toEqual([
    "    on member   spec.replicas: 3 → 1, left to HorizontalPodAutoscaler busy there",
  ]);
});

test("a finished run whose members have left is not rendered as an empty decision", () => {
  const decision = { source: "recorded", at: "2024-05-01T12:00:00Z", kept: [], rejected: [] } as const;

  const text = renderWhy({ ...explanation, decision, members: [] });

  expect(text).toContain(
    "CLUSTERS (decided at 2024-05-01T12:00:00Z)\n  none: it is finished, and its members have left the fleet",
  );
});

const counts: Record<string, { kind: string; replicas?: number; status?: object; want: string }> = {
  "a workload without replicas": { kind: "Deployment", replicas: 0, want: "oslo: 0 replicas, applied, healthy" },
  "a ConfigMap": { kind: "ConfigMap", want: "oslo: applied, healthy" },
  "a Pod": { kind: "Pod", replicas: 1, want: "oslo: applied, healthy" },
  "a SidecarSet": {
    kind: "SidecarSet",
    replicas: 0,
    status: { matchedPods: 3 },
    want: "oslo: matches 3 pods, applied, healthy",
  },
  "a SidecarSet that has not been observed": { kind: "SidecarSet", replicas: 0, want: "oslo: applied, healthy" },
};
for (const [what, { kind, replicas, status, want }] of Object.entries(counts))
  test(`${what} is listed with what its kind has of it`, () => {
    const [member] = explanation.members;
    const bare = { ...member, divided: [], overridden: [], overridePolicies: [], drift: undefined, onMember: [] };

    const text = renderWhy({
      ...explanation,
      resource: { ...explanation.resource, kind },
      members: [{ ...bare, onMemberBy: undefined, replicas, status }] as unknown as typeof explanation.members,
    });

    expect(text).toContain(`MEMBERS\n  ${want}\n`);
  });

test("a plan is rendered per cluster, with what is created, changed and deleted", () => {
  const object = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };

  const text = renderPlan({
    hub: [
      { action: "create", object: { ...object, kind: "ConfigMap" }, fields: [] },
      { action: "update", object, fields: [{ path: "spec.replicas", before: 8, after: 12 }] },
    ],
    changes: [
      {
        cluster: "oslo",
        action: "update",
        object,
        fields: [
          { path: "spec.replicas", before: 4, after: 6 },
          { path: "spec.paused", before: true },
        ],
        more: 2,
      },
      { cluster: "paris", action: "delete", object, fields: [], note: "excluded by --without-cluster" },
    ],
    problems: [{ resource: "Deployment shop/db", message: "no cluster fits" }],
    releases: [],
    warnings: [{ resource: "PropagationPolicy shop/db", message: "no joined cluster is named oslo2" }],
    unplanned: [],
    notes: ["something else"],
  });

  expect(text).toBe(`2 changes on the hub, 2 changes on 2 clusters:

hub
  + ConfigMap shop/web
  ~ Deployment shop/web
      spec.replicas: 8 → 12

oslo
  ~ Deployment shop/web
      spec.replicas: 4 → 6
      spec.paused: true (removed)
      and 2 more fields

paris
  - Deployment shop/web (excluded by --without-cluster)

Problems:
  Deployment shop/db: no cluster fits

Warnings:
  PropagationPolicy shop/db: no joined cluster is named oslo2

Notes:
  something else`);
});

test("a plan without changes is rendered as such", () => {
  expect(renderPlan({ hub: [], changes: [], problems: [], warnings: [], releases: [], unplanned: [], notes: [] })).toBe(
    "Nothing would change on the hub or on any member.",
  );
});

test("a plan whose release begins with nothing says what it waits for", () => {
  const release = { resource: "CloneSet shop/web", strategy: "careful", total: 4, onFailure: "Pause" as const };
  const waves = [{ name: "canary", updated: 4, clusters: ["oslo"] }];
  const hub = [{ action: "update" as const, object: { apiVersion: "v1", kind: "CloneSet", name: "web" }, fields: [] }];
  const given = { hub, changes: [], problems: [], warnings: [], unplanned: [], notes: [] };

  const away = renderPlan({ ...given, releases: [{ ...release, waves, waitingFor: "oslo to be reachable" }] });
  const gated = renderPlan({ ...given, releases: [{ ...release, waves, waitingFor: "approval of canary" }] });

  expect(away.split("\n")[0]).toBe(
    "1 change on the hub, none on any member yet, because a release waits for oslo to be reachable:",
  );
  expect(away).not.toContain("gate");
  expect(gated.split("\n")[0]).toContain("none on any member yet, because a release waits for approval of canary:");
});

test("a plan of manifests that it knows nothing of does not claim that nothing changes", () => {
  const notes = ["Trout a: not planned"];
  expect(
    renderPlan({ hub: [], changes: [], problems: [], warnings: [], unplanned: ["Trout a"], releases: [], notes }),
  ).toBe("What would change is not planned.\n\nNotes:\n  Trout a: not planned");
});

const LONG = "a-member-with-the-longest-name-that-kubernetes-allows-in-paris-1";
const SENTENCE =
  "集群 cluster(s) had untolerated taint {key: value} and then some more words that do not fit into one line";
const widest = (text: string): number => Math.max(...text.split("\n").map(displayWidth));

test("an explanation fits the terminal width with any names, and is not cut without a terminal", () => {
  const crowded: Explanation = {
    ...explanation,
    resource: { ...explanation.resource, name: LONG.slice(0, 40) },
    decision: {
      source: "recorded",
      at: "2024-05-01T12:00:00Z",
      kept: [{ cluster: LONG, score: 100, available: 7, replicas: 4 }],
      rejected: [{ by: "TaintToleration", reason: SENTENCE, count: 3, clusters: [LONG, "东京", "rome"] }],
    },
    members: [
      {
        cluster: LONG,
        replicas: 4,
        state: "target",
        divided: [],
        overridden: [],
        overridePolicies: [],
        applied: false,
        message: SENTENCE,
      },
    ],
    problems: [{ what: SENTENCE, try: SENTENCE }],
  };

  expect(widest(renderWhy(crowded, 80))).toBeLessThanOrEqual(80);
  expect(renderWhy(crowded)).toContain(`${LONG}, 东京, rome`);
  expect(renderWhy(crowded)).toContain(`TaintToleration: ${SENTENCE}`);
});

test("a plan fits the terminal width", () => {
  const object = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: LONG.slice(0, 50) };
  const plan = {
    hub: [],
    changes: [
      {
        cluster: LONG,
        action: "update" as const,
        object,
        fields: [
          {
            path: "spec.template.spec.containers[0].image",
            before: "registry.example.com/shop/web:1.0",
            after: "registry.example.com/shop/web:2.0",
          },
        ],
      },
    ],
    problems: [{ resource: "Deployment shop/db", message: SENTENCE }],
    warnings: [],
    releases: [],
    unplanned: [],
    notes: [SENTENCE],
  };

  expect(widest(renderPlan(plan, 80))).toBeLessThanOrEqual(80);
  expect(renderPlan(plan)).toContain(`Deployment shop/db: ${SENTENCE}`);
});
