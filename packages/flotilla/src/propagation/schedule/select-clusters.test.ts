import { describe, expect, test } from "vitest";
import type { ScoredCandidate } from "./candidate.ts";
import { readCluster } from "./fleet-view.ts";
import type { Placement } from "./framework.ts";
import { selectClusters } from "./select-clusters.ts";

interface Place {
  score?: number;
  room?: number;
  region?: string;
  provider?: string;
  zones?: string[];
  rack?: string;
  tier?: number;
}

function candidates(places: Record<string, Place>): ScoredCandidate[] {
  return Object.entries(places).map(([name, { score = 0, room = 10, region, provider, zones, rack, tier = 0 }]) => ({
    cluster: readCluster({
      metadata: { name, labels: rack ? { rack } : undefined },
      spec: { region: region || undefined, provider: provider || undefined, zones },
    }),
    score,
    overflowOrder: tier,
    allocatableReplicas: room,
    availableReplicas: room,
    verdict: { cluster: name },
  }));
}

type Constraints = NonNullable<Placement["spreadConstraints"]>;
const DYNAMIC: Placement = {
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
    weightPreference: { dynamicWeight: "AvailableReplicas" },
  },
};

function select(
  places: Record<string, Place>,
  spreadConstraints: Constraints,
  replicas = 0,
  placement: Placement = DYNAMIC,
): string[] | string {
  const selection = selectClusters(candidates(places), { ...placement, spreadConstraints }, replicas);
  if (selection.ok) return selection.candidates.map(({ cluster }) => cluster.name);
  return selection.detail === undefined ? selection.message : `${selection.message} (${selection.detail})`;
}

const clusters = (minGroups: number, maxGroups?: number): Constraints[number] => ({
  spreadByField: "cluster",
  minGroups,
  maxGroups,
});

describe("by cluster", () => {
  const four = {
    m1: { score: 20, room: 40 },
    m2: { score: 40, room: 60 },
    m3: { score: 30, room: 80 },
    m4: { score: 60, room: 50 },
  };
  const DUPLICATED: Placement = { replicaScheduling: { replicaSchedulingType: "Duplicated" } };
  const STATIC: Placement = {
    replicaScheduling: {
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: "Weighted",
      weightPreference: { staticWeightList: [{ targetCluster: {}, weight: 1 }] },
    },
  };
  const cases: Record<
    string,
    { constraint: Constraints[number]; replicas: number; placement?: Placement; want: string[] | string }
  > = {
    "without a strategy the best scores win": {
      constraint: clusters(1, 2),
      replicas: 100,
      placement: {},
      want: ["m4", "m2"],
    },
    "duplicated replicas do not require room": {
      constraint: clusters(1, 2),
      replicas: 120,
      placement: DUPLICATED,
      want: ["m4", "m2"],
    },
    "static weights are not spread": {
      constraint: clusters(1, 2),
      replicas: 120,
      placement: STATIC,
      want: ["m1", "m2", "m3", "m4"],
    },
    "a cluster is replaced by one with more room": { constraint: clusters(1, 2), replicas: 120, want: ["m4", "m3"] },
    "a replaced cluster may replace another": { constraint: clusters(1, 2), replicas: 140, want: ["m2", "m3"] },
    "too little room is an error": {
      constraint: clusters(1, 2),
      replicas: 200,
      want: "no enough resource when selecting 2 clusters (200 required, 140 fit on the 2 with the most room)",
    },
    "too few clusters are an error": {
      constraint: clusters(7),
      replicas: 1,
      want: "the number of feasible clusters is less than spreadConstraint.MinGroups (7 required, 4 found: m1, m2, m3, m4)",
    },
    "without a maximum all are selected": { constraint: clusters(1), replicas: 1, want: ["m4", "m2", "m3", "m1"] },
  };
  for (const [behaviour, { constraint, replicas, placement, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(select(four, [constraint], replicas, placement)).toEqual(want);
    });
  }

  test("primary clusters come before overflow clusters regardless of scores", () => {
    expect(select({ m1: { tier: 1, score: 100 }, m2: { tier: 0 } }, [clusters(1, 1)])).toEqual(["m2"]);
  });
});

describe("by region", () => {
  const region = (minGroups: number, maxGroups: number): Constraints[number] => ({
    spreadByField: "region",
    minGroups,
    maxGroups,
  });
  const two = {
    m1: { region: "R1", score: 100 },
    m2: { region: "R1", score: 80 },
    m3: { region: "R2", score: 80 },
    m4: { region: "R2", score: 80 },
    m5: { region: "R2", score: 60 },
  };
  const cases: Record<string, { constraints: Constraints; want: string[] | string }> = {
    "the best region with enough clusters is selected": {
      constraints: [region(1, 1), clusters(2, 2)],
      want: ["m1", "m2"],
    },
    "a region with too few clusters is not selected": {
      constraints: [region(1, 1), clusters(3, 3)],
      want: ["m3", "m4", "m5"],
    },
    "too few regions are an error": {
      constraints: [region(3, 3), clusters(3, 3)],
      want: "the number of feasible region is less than spreadConstraint.MinGroups (3 required, 2 found: R1, R2)",
    },
    "too few clusters in the regions are an error": {
      constraints: [region(1, 1), clusters(4, 4)],
      want: "the number of clusters is less than the cluster spreadConstraint.MinGroups (4 required in at most 1 of region; found R1: 2, R2: 3)",
    },
    "the best cluster of each region comes first": {
      constraints: [region(2, 2), clusters(2, 3)],
      want: ["m1", "m3", "m2"],
    },
  };
  for (const [behaviour, { constraints, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(select(two, constraints, 1)).toEqual(want);
    });
  }

  test("clusters with room are selected where Karmada's choice has none", () => {
    const places = {
      m1: { region: "R1", score: 100, room: 1 },
      m2: { region: "R1", room: 9 },
      m3: { region: "R2", score: 100, room: 1 },
      m4: { region: "R2", room: 9 },
    };

    expect(select(places, [region(2, 2), clusters(2, 2)], 18)).toEqual(["m2", "m4"]);
  });

  test("when the fleet has too little room, division by region reports how much there is", () => {
    expect(select({ m1: { region: "R1" }, m2: { region: "R2" } }, [region(2, 2), clusters(2, 2)], 100)).toEqual([
      "m1",
      "m2",
    ]);
  });
});

describe("by zone, provider and label", () => {
  const places = {
    m1: { provider: "P1", region: "R1", zones: ["Z1"], rack: "a", room: 20 },
    m2: { provider: "P1", region: "R1", zones: ["Z2"], rack: "a", room: 40 },
    m3: { provider: "P2", region: "R1", zones: ["Z1"], rack: "b", room: 30 },
    m4: { provider: "P2", region: "R2", zones: ["Z2"], rack: "b", room: 60 },
  };
  const cases: Record<string, { constraints: Constraints; replicas?: number; want: string[] | string }> = {
    "two zones are covered although the two best clusters share one": {
      constraints: [{ spreadByField: "zone", minGroups: 2, maxGroups: 2 }, clusters(2, 2)],
      want: ["m4", "m3"],
    },
    "a selection of one zone is replaced": {
      constraints: [{ spreadByField: "zone", minGroups: 1, maxGroups: 1 }],
      want: ["m4", "m2"],
    },
    providers: {
      constraints: [{ spreadByField: "provider", minGroups: 2, maxGroups: 2 }, clusters(2, 2)],
      want: ["m4", "m2"],
    },
    "a label": {
      constraints: [{ spreadByLabel: "rack", minGroups: 2, maxGroups: 2 }, clusters(2, 2)],
      want: ["m4", "m2"],
    },
    "several kinds at once": {
      constraints: [
        { spreadByField: "provider", minGroups: 2 },
        { spreadByField: "zone", minGroups: 2 },
        clusters(2, 2),
      ],
      want: ["m4", "m1"],
    },
    "a nested pair": {
      constraints: [
        { spreadByField: "provider", minGroups: 1, maxGroups: 1 },
        { spreadByField: "region", minGroups: 2, maxGroups: 2 },
        clusters(2, 2),
      ],
      want: ["m4", "m3"],
    },
    "room decides between selections": {
      constraints: [{ spreadByField: "zone", minGroups: 2 }, clusters(2, 2)],
      replicas: 90,
      want: ["m4", "m3"],
    },
    "too few zones are an error": {
      constraints: [{ spreadByField: "zone", minGroups: 3 }],
      want: "the number of feasible zone is less than spreadConstraint.MinGroups (3 required, 2 found: Z1, Z2)",
    },
    "constraints that conflict are an error": {
      constraints: [
        { spreadByField: "zone", minGroups: 1, maxGroups: 1 },
        { spreadByField: "provider", minGroups: 2 },
        clusters(3, 3),
      ],
      replicas: 1,
      want:
        "no selection of clusters satisfies all spreadConstraints (provider 2.., zone 1..1, cluster 3..3) with " +
        "room for 1 replicas (found 2 of provider, 2 of zone, 4 of cluster)",
    },
  };
  for (const [behaviour, { constraints, replicas, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(select(places, constraints, replicas)).toEqual(want);
    });
  }

  test("a cluster in several zones counts for each", () => {
    expect(
      select({ m1: { zones: ["Z1", "Z2", "Z2"] }, m2: { zones: ["Z3"] } }, [
        { spreadByField: "zone", minGroups: 2, maxGroups: 2 },
        clusters(1, 1),
      ]),
    ).toEqual(["m1"]);
  });

  test("backtracks when the first choice is a dead end", () => {
    const trap = {
      m1: { zones: ["Z1"], provider: "P1", score: 100 },
      m2: { zones: ["Z2"], provider: "P2" },
      m3: { zones: ["Z2"], provider: "P3" },
    };

    expect(
      select(trap, [
        { spreadByField: "zone", minGroups: 1, maxGroups: 1 },
        { spreadByField: "provider", minGroups: 2 },
        clusters(2, 2),
      ]),
    ).toEqual(["m2", "m3"]);
  });
});
