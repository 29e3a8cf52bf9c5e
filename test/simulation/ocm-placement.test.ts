/**
 * Placements on a running hub: decisions follow clusters, sets, bindings and taints, and nothing is written when
 * nothing changes.
 */
import { beforeEach, describe, expect, test } from "vitest";
import {
  AddOnPlacementScore,
  CLUSTER_SET_LABEL,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  PlacementDecision,
} from "@flotilla/ocm";
import { Namespace } from "@flotilla/kubernetes";
import type { Taint as ManagedClusterTaint } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { OcmPlacementSpec } from "@flotilla/ocm";
import { findCondition, HUB } from "@flotilla/apimachinery";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet, type TestFleet } from "@flotilla/testing/fleet/fleet.ts";

let fleet: TestFleet;

beforeEach(async () => {
  fleet = endsWithTest(await startTestFleet({ members: [] }));
  await fleet.client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
});

const meta = (name: string, namespace?: string) => ({ name, namespace: namespace || undefined });
/** As its agent reports it: a cluster without reports is tainted. */
const available = {
  conditions: [
    {
      type: "ManagedClusterConditionAvailable",
      status: "True",
      reason: "ManagedClusterAvailable",
      message: "",
      lastTransitionTime: "2024-05-01T12:00:00Z",
    },
  ],
};
const addCluster = async (
  name: string,
  labels: Record<string, string> = {},
  taints: ManagedClusterTaint[] = [],
): Promise<void> => {
  await fleet.client.create(ManagedCluster, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1",
    kind: "ManagedCluster",
    metadata: { name, labels: { [CLUSTER_SET_LABEL]: "all", ...labels } },
    spec: { hubAcceptsClient: false, taints },
  });
  await fleet.client.patch(
    ManagedCluster,
    { cluster: HUB, name },
    { status: available },
    { type: "merge", subresource: "status" },
  );
  await fleet.settle();
};
const addSet = async (name = "all"): Promise<void> =>
  void (await fleet.client.create(ManagedClusterSet, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSet",
    metadata: { name },
    spec: {},
  }));
const bind = async (set = "all", namespace = "shop"): Promise<void> =>
  void (await fleet.client.create(ManagedClusterSetBinding, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSetBinding",
    metadata: meta(set, namespace),
    spec: { clusterSet: set },
  }));
const place = async (spec: OcmPlacementSpec = {}, namespace = "shop"): Promise<void> =>
  void (await fleet.client.create(OcmPlacement, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta1",
    kind: "Placement",
    metadata: meta("web", namespace),
    spec,
  }));

const decisions = async (namespace = "shop"): Promise<Record<string, string[]>> => {
  const { items } = await fleet.client.list(PlacementDecision, { cluster: HUB, namespace });
  return Object.fromEntries(
    items.map(({ metadata, status }) => [
      metadata.name,
      (status?.decisions ?? []).map(({ clusterName }) => clusterName),
    ]),
  );
};
const satisfied = async (namespace = "shop"): Promise<string> => {
  const { status } = await fleet.client.get(OcmPlacement, { cluster: HUB, namespace, name: "web" });
  const condition = findCondition(status?.conditions, "PlacementSatisfied");
  return `${condition?.status} ${condition?.reason} ${status?.numberOfSelectedClusters}`;
};

test("decisions follow clusters that are added, changed and removed", async () => {
  await addSet();
  await bind();
  await place({ predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { env: "prod" } } } }] });
  await fleet.settle();
  expect(await decisions()).toEqual({ "web-decision-1": [] });
  expect(await satisfied()).toBe("False AllManagedClusterSetsEmpty 0");

  await addCluster("c1", { env: "prod" });
  await addCluster("c2");
  await fleet.settle();
  expect(await decisions()).toEqual({ "web-decision-1": ["c1"] });

  await fleet.client.patch(
    ManagedCluster,
    { cluster: HUB, name: "c2" },
    { metadata: { labels: { env: "prod" } } },
    { type: "merge" },
  );
  await fleet.settle();
  expect(await decisions()).toEqual({ "web-decision-1": ["c1", "c2"] });
  expect(await satisfied()).toBe("True AllDecisionsScheduled 2");

  await fleet.client.patch(
    ManagedCluster,
    { cluster: HUB, name: "c1" },
    { spec: { taints: [{ key: "down", effect: "NoSelect" }] } },
    { type: "merge" },
  );
  await fleet.settle();
  expect(await decisions()).toEqual({ "web-decision-1": ["c2"] });
});

test("nothing is written when nothing changes", async () => {
  await addSet();
  await bind();
  await addCluster("c1");
  await place();
  await fleet.settle();
  fleet.resetWrites();

  await fleet.client.patch(
    ManagedCluster,
    { cluster: HUB, name: "c1" },
    { metadata: { annotations: { note: "x" } } },
    { type: "merge" },
  );
  await fleet.run(60_000);

  expect(fleet.writes().filter(({ part }) => part === "placement")).toEqual([]);
});

test("unneeded decisions are deleted", async () => {
  await addSet();
  await bind();
  for (const name of ["c1", "c2", "c3"]) await addCluster(name);
  await place({ decisionStrategy: { groupStrategy: { clustersPerDecisionGroup: 1 } } });
  await fleet.settle();
  expect(await decisions()).toEqual({ "web-decision-1": ["c1"], "web-decision-2": ["c2"], "web-decision-3": ["c3"] });

  await fleet.client.patch(
    OcmPlacement,
    { cluster: HUB, namespace: "shop", name: "web" },
    { spec: { decisionStrategy: null } },
    { type: "merge" },
  );
  await fleet.settle();

  expect(await decisions()).toEqual({ "web-decision-1": ["c1", "c2", "c3"] });
});

test("an expired toleration deselects the cluster without an event", async () => {
  await addSet();
  await bind();
  await addCluster("c1", {}, [{ key: "down", effect: "NoSelect" }]);
  await place({ tolerations: [{ key: "down", operator: "Exists", tolerationSeconds: 20 }] });
  await fleet.settle();
  expect(await decisions()).toEqual({ "web-decision-1": ["c1"] });

  await fleet.run(21_000);

  expect(await decisions()).toEqual({ "web-decision-1": [] });
});

describe("a namespace without a binding", () => {
  test("selects no cluster", async () => {
    await addCluster("c1", { [CLUSTER_SET_LABEL]: "default" });
    await place({ clusterSets: ["default"] });
    await fleet.settle();

    expect(await decisions()).toEqual({ "web-decision-1": [] });
    expect(await satisfied()).toBe("False NoManagedClusterSetBindings 0");
  });

  test("is implicitly bound to the default set if it is the default namespace and the Placement names that set", async () => {
    await addCluster("c1", { [CLUSTER_SET_LABEL]: "default" });
    await place({ clusterSets: ["default"] }, "default");
    await fleet.settle();

    expect(await decisions("default")).toEqual({ "web-decision-1": ["c1"] });
  });

  test("keeps the clusters of the default set when another set is bound, and when that binding is deleted", async () => {
    await addSet("other");
    await addCluster("c1", { [CLUSTER_SET_LABEL]: "default" });
    await addCluster("c2", { [CLUSTER_SET_LABEL]: "other" });
    await place({ clusterSets: ["default"] }, "default");
    await fleet.settle();

    await bind("other", "default");
    await fleet.settle();
    const bound = await decisions("default");
    await fleet.client.delete(ManagedClusterSetBinding, { cluster: HUB, namespace: "default", name: "other" });
    await fleet.settle();

    expect([bound, await decisions("default")]).toEqual([{ "web-decision-1": ["c1"] }, { "web-decision-1": ["c1"] }]);
  });
});

test("decisions sorted by score contain the scores, and follow score changes at most once per scoreRateLimit", async () => {
  const score = async (cluster: string, value: number): Promise<void> => {
    await fleet.client.patch(
      AddOnPlacementScore,
      { cluster: HUB, namespace: cluster, name: "demo" },
      { status: { scores: [{ name: "cpu", value }] } },
      { type: "merge", subresource: "status" },
    );
    await fleet.settle();
  };
  const scored = async (): Promise<string[]> =>
    (
      (await fleet.client.get(PlacementDecision, { cluster: HUB, namespace: "shop", name: "web-decision-1" })).status
        ?.decisions ?? []
    ).map(({ clusterName, score: value }) => `${clusterName} ${value}`);
  await addSet();
  await bind();
  for (const name of ["c1", "c2"]) {
    await addCluster(name);
    await fleet.client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await fleet.client.create(AddOnPlacementScore, HUB, {
      apiVersion: "cluster.open-cluster-management.io/v1alpha1",
      kind: "AddOnPlacementScore",
      metadata: meta("demo", name),
    });
  }
  await score("c2", 50);
  await place({
    sortBy: "Score",
    scoreRateLimit: "30s",
    prioritizerPolicy: {
      mode: "Exact",
      configurations: [
        { scoreCoordinate: { type: "AddOn", addOn: { resourceName: "demo", scoreName: "cpu" } }, weight: 1 },
      ],
    },
  });
  await fleet.settle();
  expect(await scored()).toEqual(["c2 50", "c1 0"]);

  await score("c1", 80);
  expect(await scored()).toEqual(["c2 50", "c1 0"]);
  await fleet.run(31_000);
  expect(await scored()).toEqual(["c1 80", "c2 50"]);
  fleet.resetWrites();
  await fleet.run(300_000);
  expect(fleet.writes().filter(({ resource }) => resource.startsWith("placement"))).toEqual([]);

  await addCluster("c3");
  await fleet.settle();
  expect(await scored()).toEqual(["c1 80", "c2 50", "c3 0"]);
});
