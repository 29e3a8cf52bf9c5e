import { describe, expect, test } from "vitest";
import { CLUSTER_SET_LABEL } from "@flotilla/ocm";
import type { ManagedCluster, ManagedClusterSet, OcmPlacement, OcmPlacementSpec } from "@flotilla/ocm";
import type { PlacementInput } from "../../ocm/placement/plan-placement.ts";
import { explainPlacement } from "./explain-placement.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const set: ManagedClusterSet = {
  apiVersion: "cluster.open-cluster-management.io/v1beta2",
  kind: "ManagedClusterSet",
  metadata: { name: "all" },
  spec: {},
};

function cluster(
  name: string,
  extra: {
    labels?: Record<string, string>;
    taints?: ManagedCluster["spec"]["taints"];
    claims?: Record<string, string>;
    set?: string;
  } = {},
): ManagedCluster {
  const { labels = {}, taints, claims = {}, set: inSet = "all" } = extra;
  return {
    apiVersion: "cluster.open-cluster-management.io/v1",
    kind: "ManagedCluster",
    metadata: { name, labels: { [CLUSTER_SET_LABEL]: inSet, ...labels } },
    spec: { hubAcceptsClient: true, taints },
    status: {
      conditions: [],
      version: {},
      clusterClaims: Object.entries(claims).map(([key, value]) => ({ name: key, value })),
    },
  };
}
const placement = (spec: OcmPlacementSpec, annotations: Record<string, string> = {}): OcmPlacement => ({
  apiVersion: "cluster.open-cluster-management.io/v1beta1",
  kind: "Placement",
  metadata: { namespace: "shop", name: "web", annotations },
  spec,
});
const input = (clusters: ManagedCluster[], more: Partial<PlacementInput> = {}): PlacementInput => ({
  boundSets: new Map([["all", set]]),
  clusters,
  chosen: new Set(),
  decisionsOf: () => 0,
  mostDecisions: 0,
  scoreObjectOf: () => undefined,
  nowMs: NOW,
  ...more,
});

describe("explains why a cluster was excluded", () => {
  const predicate = (
    requiredClusterSelector: NonNullable<
      NonNullable<OcmPlacementSpec["predicates"]>[number]["requiredClusterSelector"]
    >,
  ): OcmPlacementSpec => ({ predicates: [{ requiredClusterSelector }] });
  const tainted = cluster("c1", {
    taints: [{ key: "gpu", value: "yes", effect: "NoSelect", timeAdded: "2024-05-01T00:00:00Z" }],
  });
  const cases: Record<
    string,
    { spec: OcmPlacementSpec; clusters: ManagedCluster[]; want: { by: string; reason: string } }
  > = {
    "missing label": {
      spec: predicate({ labelSelector: { matchLabels: { env: "prod" } } }),
      clusters: [cluster("c1")],
      want: { by: "Predicate", reason: "it is not labelled env=prod" },
    },
    "missing claim": {
      spec: predicate({
        claimSelector: { matchExpressions: [{ key: "region", operator: "In", values: ["eu", "us"] }] },
      }),
      clusters: [cluster("c1", { claims: { region: "asia" } })],
      want: { by: "Predicate", reason: "it is not claiming region in (eu,us)" },
    },
    "CEL expression is false": {
      spec: predicate({ celSelector: { celExpressions: ["managedCluster.metadata.name == 'c2'"] } }),
      clusters: [cluster("c1")],
      want: { by: "Predicate", reason: "it is not one for which managedCluster.metadata.name == 'c2' holds" },
    },
    "no predicate matches": {
      spec: {
        predicates: ["prod", "test"].map((env) => ({
          requiredClusterSelector: { labelSelector: { matchLabels: { env } } },
        })),
      },
      clusters: [cluster("c1")],
      want: { by: "Predicate", reason: "it is not labelled env=prod, and it is not labelled env=test" },
    },
    "untolerated taint": {
      spec: {},
      clusters: [tainted],
      want: { by: "TaintToleration", reason: "its taint gpu=yes:NoSelect is not tolerated" },
    },
    "other clusters score higher": {
      spec: { numberOfClusters: 1 },
      clusters: [cluster("c0"), cluster("c1")],
      want: {
        by: "NumberOfClusters",
        reason:
          "only 1 clusters are requested and others rank higher: its score is 100, the lowest chosen score is 100",
      },
    },
    "spread constraint": {
      spec: {
        numberOfClusters: 2,
        spreadPolicy: {
          spreadConstraints: [
            { topologyKey: "zone", topologyKeyType: "Label", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" },
          ],
        },
      },
      clusters: [cluster("c0", { labels: { zone: "a" } }), cluster("c1")],
      want: { by: "SpreadPolicy", reason: "a spread constraint excludes it" },
    },
  };
  for (const [because, { spec, clusters, want }] of Object.entries(cases)) {
    test(because, () => {
      const { decision } = explainPlacement(placement(spec), input(clusters));

      expect(decision?.rejected).toEqual([{ ...want, count: 1, clusters: ["c1"] }]);
    });
  }
});

test("lists chosen clusters with their total score and the score of each prioritizer", () => {
  const { decision, prioritizers, problems } = explainPlacement(
    placement({}),
    input([cluster("c1"), cluster("c2")], { chosen: new Set(["c1"]) }),
  );

  expect(decision?.kept).toEqual([
    { cluster: "c1", score: 200 },
    { cluster: "c2", score: 100 },
  ]);
  expect(prioritizers).toEqual([
    { name: "Balance", weight: 1, scores: { c1: 100, c2: 100 } },
    { name: "Steady", weight: 1, scores: { c1: 100, c2: 0 } },
  ]);
  expect(problems).toEqual([]);
});

test("counts clusters of unbound sets without naming them", () => {
  const { decision } = explainPlacement(placement({}), input([cluster("c1"), cluster("secret", { set: "other" })]));

  expect(decision?.rejected).toEqual([
    { by: "ManagedClusterSet", reason: "not in all, or being deleted", count: 1, clusters: [] },
  ]);
});

test("suggests a fix for a Placement without a ManagedClusterSetBinding", () => {
  const { decision, problems } = explainPlacement(placement({}), input([cluster("c1")], { boundSets: new Map() }));

  expect(decision?.rejected).toEqual([
    { by: "ManagedClusterSet", reason: "no ManagedClusterSet is bound to the namespace", count: 1, clusters: [] },
  ]);
  expect(problems).toEqual([
    {
      what: "No valid ManagedClusterSetBindings found in placement namespace",
      try: expect.stringContaining("create a ManagedClusterSetBinding"),
    },
  ]);
});

test("a misconfigured Placement keeps its clusters and reports the error", () => {
  const { decision, problems } = explainPlacement(
    placement({ tolerations: [{ value: "v", operator: "Equal" }] }),
    input([cluster("c1"), cluster("c2")], { chosen: new Set(["c1"]) }),
  );

  expect(decision?.kept).toEqual([{ cluster: "c1" }]);
  expect(decision?.rejected).toMatchObject([{ by: "Misconfigured", clusters: ["c2"] }]);
  expect(problems).toMatchObject([
    {
      what: "it is misconfigured: TaintToleration:If the key is empty, operator must be Exists.; its current clusters are kept",
    },
  ]);
});

test("reports that scheduling of a Placement is disabled", () => {
  const { problems } = explainPlacement(
    placement({}, { "cluster.open-cluster-management.io/experimental-scheduling-disable": "true" }),
    input([cluster("c1")]),
  );

  expect(problems).toMatchObject([{ what: "scheduling is disabled: its decisions are kept unchanged" }]);
});
