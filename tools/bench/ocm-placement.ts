/**
 * The cost of one decision of an Open Cluster Management Placement, for 10, 100 and 1,000 clusters. Decisions alone: no
 * API, no queue.
 */
import { CLUSTER_SET_LABEL } from "@flotilla/ocm";
import type {
  AddOnPlacementScore,
  ManagedCluster,
  ManagedClusterSet,
  OcmPlacement,
  OcmPlacementSpec,
} from "@flotilla/ocm";
import { planPlacement } from "@flotilla/flotilla";
import type { PlacementInput } from "@flotilla/flotilla";
import type { Figure } from "./benchmark.ts";
import { measure } from "./scheduler.ts";

const SIZES = [10, 100, 1000] as const;
const REGIONS = 20;
/** Calls per round, chosen so that a round takes a few milliseconds. */
const CLUSTERS_PER_ROUND = 10_000;
const SET = "all";
const SCORES = "capacity";
const NOW_MS = Date.parse("2026-01-01T00:00:00Z");

const SPECS: Readonly<Record<string, OcmPlacementSpec>> = {
  everything: {},
  "ten by label": {
    numberOfClusters: 10,
    predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { env: "prod" } } } }],
  },
  "ten by expression": {
    numberOfClusters: 10,
    predicates: [
      {
        requiredClusterSelector: {
          celSelector: { celExpressions: ['managedCluster.metadata.labels["env"] == "prod"'] },
        },
      },
    ],
  },
  "ten by score, spread": {
    numberOfClusters: 10,
    prioritizerPolicy: {
      mode: "Additive",
      configurations: [
        { scoreCoordinate: { type: "AddOn", addOn: { resourceName: SCORES, scoreName: "free" } }, weight: 2 },
        { scoreCoordinate: { type: "BuiltIn", builtIn: "ResourceAllocatableMemory" }, weight: 1 },
      ],
    },
    spreadPolicy: { spreadConstraints: [{ topologyKey: "region", topologyKeyType: "Label", maxSkew: 1 }] },
  },
};

function makeCluster(index: number): ManagedCluster {
  return {
    apiVersion: "cluster.open-cluster-management.io/v1",
    kind: "ManagedCluster",
    metadata: {
      name: `member${String(index).padStart(4, "0")}`,
      labels: { [CLUSTER_SET_LABEL]: SET, env: index % 5 === 0 ? "test" : "prod", region: `region${index % REGIONS}` },
    },
    spec: {
      hubAcceptsClient: true,
      taints: index % 10 === 0 ? [{ key: "maint", effect: "NoSelect" as const }] : undefined,
    },
    status: { conditions: [], allocatable: { memory: `${64 + (index % 300)}Gi` }, capacity: { memory: "512Gi" } },
  };
}

function makeScores(cluster: string, value: number): AddOnPlacementScore {
  return {
    apiVersion: "cluster.open-cluster-management.io/v1alpha1",
    kind: "AddOnPlacementScore",
    metadata: { name: SCORES, namespace: cluster },
    status: { scores: [{ name: "free", value }] },
  };
}

export function measurePlacements(progress: (text: string) => void): Figure[] {
  const set: ManagedClusterSet = {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSet",
    metadata: { name: SET },
    spec: {},
  };
  const figures: Figure[] = [];
  for (const size of SIZES) {
    const clusters = Array.from({ length: size }, (_, index) => makeCluster(index));
    const scores = new Map(clusters.map(({ metadata: { name } }, index) => [name, makeScores(name, index % 100)]));
    const input: PlacementInput = {
      boundSets: new Map([[SET, set]]),
      clusters,
      chosen: new Set(),
      decisionsOf: () => 0,
      mostDecisions: 0,
      scoreObjectOf: (cluster) => scores.get(cluster),
      nowMs: NOW_MS,
    };
    for (const [name, spec] of Object.entries(SPECS)) {
      const placement: OcmPlacement = {
        apiVersion: "cluster.open-cluster-management.io/v1beta1",
        kind: "Placement",
        metadata: { name: "p", namespace: "shop" },
        spec,
      };
      if (planPlacement(placement, input).chosen.length === 0)
        throw new Error(`the Placement '${name}' chose none of ${size} clusters`);
      progress(`placement: ${name}, ${size} clusters`);
      figures.push({
        name: `placement, ${name}, ${size} clusters`,
        unit: "µs",
        better: "less",
        value: measure(Math.max(1, Math.round(CLUSTERS_PER_ROUND / size)), () => void planPlacement(placement, input)),
      });
    }
  }
  return figures;
}
