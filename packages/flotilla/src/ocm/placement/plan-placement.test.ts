import { defined } from "@flotilla/base";
import { describe, expect, test } from "vitest";
import { CLUSTER_SET_LABEL } from "@flotilla/ocm";
import type {
  AddOnPlacementScore,
  ManagedCluster,
  ManagedClusterSet,
  OcmPlacement,
  OcmPlacementSpec,
} from "@flotilla/ocm";
import type { Taint as ManagedClusterTaint } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import { planPlacement, type PlacementInput, type PlacementPlan } from "./plan-placement.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const set: ManagedClusterSet = {
  apiVersion: "cluster.open-cluster-management.io/v1beta2",
  kind: "ManagedClusterSet",
  metadata: { name: "all" },
  spec: {},
};
const placement = (spec: OcmPlacementSpec = {}): OcmPlacement => ({
  apiVersion: "cluster.open-cluster-management.io/v1beta1",
  kind: "Placement",
  metadata: { name: "p", namespace: "shop" },
  spec,
});
const cluster = (
  name: string,
  {
    labels = {},
    taints = [],
    memory,
  }: { labels?: Record<string, string>; taints?: ManagedClusterTaint[]; memory?: string } = {},
): ManagedCluster => ({
  apiVersion: "cluster.open-cluster-management.io/v1",
  kind: "ManagedCluster",
  metadata: { name, labels: { [CLUSTER_SET_LABEL]: "all", ...labels } },
  spec: { taints },
  status: {
    conditions: [],
    ...defined({
      allocatable: memory === undefined ? undefined : { memory },
      capacity: memory === undefined ? undefined : { memory },
    }),
  },
});
const named = (...names: string[]): ManagedCluster[] => names.map((name) => cluster(name));
const plan = (spec: OcmPlacementSpec, clusters: ManagedCluster[], input: Partial<PlacementInput> = {}): PlacementPlan =>
  planPlacement(placement(spec), {
    boundSets: new Map([["all", set]]),
    clusters,
    chosen: new Set(),
    decisionsOf: () => 0,
    mostDecisions: 0,
    scoreObjectOf: () => undefined,
    nowMs: NOW,
    ...input,
  });
const conditionOf = (got: PlacementPlan, type: string): string => {
  const { status, reason, message } = got.conditions.find((condition) => condition.type === type) ?? {};
  return `${status} ${reason}: ${message}`;
};
const decided = (got: PlacementPlan): Record<string, string[]> =>
  Object.fromEntries(got.decisions.map(({ name, clusters }) => [name, clusters]));

test("without a bound set there is one empty decision", () => {
  const got = plan({}, named("c1"), { boundSets: new Map() });

  expect(decided(got)).toEqual({ "p-decision-1": [] });
  expect(conditionOf(got, "PlacementSatisfied")).toBe(
    "False NoManagedClusterSetBindings: No valid ManagedClusterSetBindings found in placement namespace",
  );
});

test("a decision has at most a hundred clusters, and its group lists all decisions", () => {
  const got = plan({}, named(...Array.from({ length: 101 }, (_each, index) => `c${String(index).padStart(3, "0")}`)));

  expect(got.decisions.map(({ name, clusters }) => [name, clusters.length])).toEqual([
    ["p-decision-1", 100],
    ["p-decision-2", 1],
  ]);
  expect(got.groups).toEqual([
    { decisionGroupIndex: 0, decisionGroupName: "", decisions: ["p-decision-1", "p-decision-2"], clusterCount: 101 },
  ]);
  expect(conditionOf(got, "PlacementSatisfied")).toMatch(/^True AllDecisionsScheduled/);
});

test("decisions are ordered by name, or by score if the Placement specifies it", () => {
  const clusters = [
    cluster("c1", { memory: "1Gi" }),
    cluster("c2", { memory: "3Gi" }),
    cluster("c3", { memory: "2Gi" }),
  ];
  const prioritizerPolicy = {
    mode: "Exact" as const,
    configurations: [
      { scoreCoordinate: { type: "BuiltIn" as const, builtIn: "ResourceAllocatableMemory" }, weight: 1 },
    ],
  };

  expect(decided(plan({ prioritizerPolicy }, clusters))).toEqual({ "p-decision-1": ["c1", "c2", "c3"] });
  expect(decided(plan({ prioritizerPolicy, sortBy: "Score" }, clusters))).toEqual({
    "p-decision-1": ["c2", "c3", "c1"],
  });
});

test.each([
  "has(managedCluster.status.version)",
  "!managedCluster.spec.hubAcceptsClient",
  "managedCluster.status.conditions == null || managedCluster.status.conditions.size() == 0",
])("an expression finds fields that OCM always serializes: %s", (expression) => {
  const bare = { ...cluster("c1"), spec: {} };
  const { status: _status, ...unheard } = bare;

  expect(
    plan({ predicates: [{ requiredClusterSelector: { celSelector: { celExpressions: [expression] } } }] }, [unheard])
      .chosen,
  ).toEqual(["c1"]);
});

test("a negative numberOfClusters selects no cluster", () => {
  expect(plan({ numberOfClusters: -1 }, named("c1", "c2")).chosen).toEqual([]);
});

test("too few clusters are reported as unsatisfied", () => {
  const got = plan({ numberOfClusters: 10 }, named("c1", "c2"));

  expect(got.chosen).toEqual(["c1", "c2"]);
  expect(conditionOf(got, "PlacementSatisfied")).toBe(
    "False NotAllDecisionsScheduled: 8 cluster decisions unscheduled",
  );
});

describe("a misconfigured Placement", () => {
  const wrong: OcmPlacementSpec = {
    predicates: [{ requiredClusterSelector: { celSelector: { celExpressions: ["managedCluster.metadata.name =="] } } }],
  };

  test("keeps its previous decision, except clusters it may no longer choose", () => {
    const got = plan(wrong, named("c1", "c2"), { chosen: new Set(["c1", "gone"]) });

    expect(decided(got)).toEqual({ "p-decision-1": ["c1"] });
    expect(got.isKept).toBe(true);
    expect(conditionOf(got, "PlacementMisconfigured")).toMatch(
      /^True Misconfigured: Predicate:compilation failed: ERROR/,
    );
    expect(conditionOf(got, "PlacementSatisfied")).toBe(
      "False NotAllDecisionsScheduled: The placement is misconfigured; the previously decided clusters are kept",
    );
  });

  test.each([
    {
      spec: { tolerations: [{ operator: "Equal", value: "v" }] },
      message: "TaintToleration:If the key is empty, operator must be Exists.",
    },
    {
      spec: { tolerations: [{ key: "k", operator: "Exists", value: "v" }] },
      message: "TaintToleration:If the operator is Exists, the value should be empty.",
    },
    { spec: { prioritizerPolicy: { mode: "Maybe" } }, message: ":incorrect prioritizer policy mode: Maybe" },
    {
      spec: { decisionStrategy: { groupStrategy: { clustersPerDecisionGroup: "many" } } },
      message: ":many invalid type: string is not a percentage",
    },
  ] satisfies { spec: OcmPlacementSpec; message: string }[])(
    "chooses no new clusters: $message",
    ({ spec, message }) => {
      const got = plan(spec, named("c1"));

      expect(got.chosen).toEqual([]);
      expect(conditionOf(got, "PlacementMisconfigured")).toBe(`True Misconfigured: ${message}`);
    },
  );
});

describe("the cluster order", () => {
  test("follows the weighted sum of the scores", () => {
    const demo = new Map([
      ["c1", 30],
      ["c2", 40],
      ["c3", 50],
    ]);
    const scoreObjectOf = (name: string): AddOnPlacementScore => ({
      apiVersion: "cluster.open-cluster-management.io/v1alpha1",
      kind: "AddOnPlacementScore",
      metadata: { name: "demo", namespace: name },
      status: { scores: [{ name: "demo", value: demo.get(name) ?? 0 }] },
    });
    const weigh = {
      configurations: [
        { scoreCoordinate: { type: "BuiltIn" as const, builtIn: "Balance" }, weight: 3 },
        { scoreCoordinate: { type: "BuiltIn" as const, builtIn: "ResourceAllocatableMemory" }, weight: 1 },
        { scoreCoordinate: { type: "AddOn" as const, addOn: { resourceName: "demo", scoreName: "demo" } }, weight: 1 },
      ],
    };

    const got = plan(
      { numberOfClusters: 2, prioritizerPolicy: weigh },
      [cluster("c1", { memory: "100" }), cluster("c2", { memory: "75" }), cluster("c3", { memory: "50" })],
      { scoreObjectOf },
    );

    expect(Object.fromEntries(got.record.scores)).toEqual({ c1: 430, c2: 340, c3: 250 });
    expect(got.chosen).toEqual(["c1", "c2"]);
  });

  test("prefers clusters with fewer decisions, and clusters that are already chosen", () => {
    const use = new Map([
      ["c1", 2],
      ["c2", 1],
      ["c3", 1],
    ]);
    const busy = { decisionsOf: (name: string) => use.get(name) ?? 0, mostDecisions: 2 };

    expect(
      Object.fromEntries(
        plan({}, named("c1", "c2", "c3"), busy).record.prioritizers.find(({ name }) => name === "Balance")?.scores ??
          [],
      ),
    ).toEqual({ c1: -100, c2: 0, c3: 0 });
    expect(plan({ numberOfClusters: 1 }, named("c1", "c2", "c3"), { ...busy, chosen: new Set(["c3"]) }).chosen).toEqual(
      ["c3"],
    );
  });
});

describe("taints", () => {
  const tainted = cluster("c1", {
    taints: [{ key: "down", effect: "NoSelect", timeAdded: new Date(NOW - 10_000).toISOString() }],
  });

  test("taints with effect NoSelectIfNew do not deselect chosen clusters", () => {
    const fresh = cluster("c1", { taints: [{ key: "full", effect: "NoSelectIfNew" }] });

    expect(plan({}, [fresh]).chosen).toEqual([]);
    expect(plan({}, [fresh], { chosen: new Set(["c1"]) }).chosen).toEqual(["c1"]);
  });

  test("are tolerated for tolerationSeconds, after which the Placement is reconciled again", () => {
    const got = plan({ tolerations: [{ key: "down", operator: "Exists", tolerationSeconds: 20 }] }, [tainted]);

    expect(got.chosen).toEqual(["c1"]);
    expect(got.recheckMs).toBe(NOW + 10_000);
    expect(
      plan({ tolerations: [{ key: "down", operator: "Exists", tolerationSeconds: 10 }] }, [tainted]).chosen,
    ).toEqual([]);
  });
});

describe("decision groups", () => {
  const clouds = [
    cluster("c1", { labels: { cloud: "Amazon" } }),
    cluster("c2", { labels: { cloud: "Amazon" } }),
    cluster("c3", { labels: { cloud: "Azure" } }),
  ];

  test("follow the order of their selectors", () => {
    const decisionGroups = ["Amazon", "Azure"].map((cloud, index) => ({
      groupName: `group${index + 1}`,
      groupClusterSelector: { labelSelector: { matchLabels: { cloud } } },
    }));

    const got = plan({ decisionStrategy: { groupStrategy: { decisionGroups } } }, clouds);

    expect(got.groups).toEqual([
      { decisionGroupIndex: 0, decisionGroupName: "group1", decisions: ["p-decision-1"], clusterCount: 2 },
      { decisionGroupIndex: 1, decisionGroupName: "group2", decisions: ["p-decision-2"], clusterCount: 1 },
    ]);
  });

  test("decision groups with a percentage are rounded up", () => {
    const got = plan({ decisionStrategy: { groupStrategy: { clustersPerDecisionGroup: "25%" } } }, clouds);

    expect(decided(got)).toEqual({ "p-decision-1": ["c1"], "p-decision-2": ["c2"], "p-decision-3": ["c3"] });
  });
});

describe("spread constraints", () => {
  const regions = ["a", "a", "a", "b", ""].map((region, index) =>
    cluster(`c${index + 1}`, { labels: region ? { region } : {} }),
  );
  const spread = (whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway", numberOfClusters?: number): string[] =>
    plan(
      {
        numberOfClusters,
        spreadPolicy: {
          spreadConstraints: [{ topologyKey: "region", topologyKeyType: "Label", maxSkew: 1, whenUnsatisfiable }],
        },
      },
      regions,
    ).chosen;

  test("prefer clusters of domains with fewer chosen clusters", () => {
    expect(spread("ScheduleAnyway", 2)).toEqual(["c1", "c4"]);
  });

  test("spread constraints with DoNotSchedule exclude clusters that violate them", () => {
    expect(spread("DoNotSchedule")).toEqual(["c1", "c4", "c2"]);
  });

  test("spread constraints with ScheduleAnyway take violating clusters last", () => {
    expect(spread("ScheduleAnyway")).toEqual(["c1", "c4", "c2", "c3", "c5"]);
  });
});
