import { describe, expect, test } from "vitest";
import { assignReplicas, type Assignment, type AssignmentInput, type Candidate } from "./assign.ts";
import type { BindingSpecView, Placement } from "./framework.ts";

const resource = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const dynamic: Placement = {
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
    weightPreference: { dynamicWeight: "AvailableReplicas" },
  },
};
const aggregated: Placement = {
  replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Aggregated" },
};
const byWeight = (weights: Record<string, number>): Placement => ({
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
    weightPreference: {
      staticWeightList: Object.entries(weights).map(([name, weight]) => ({
        targetCluster: { clusterNames: [name] },
        weight,
      })),
    },
  },
});

/** Clusters with their free capacity, and the binding's replicas there. */
function candidates(
  free: Record<string, number>,
  previous: Record<string, number> = {},
  tiers: Record<string, number> = {},
): Candidate[] {
  return Object.entries(free).map(([name, count]) => ({
    cluster: { metadata: { name } },
    allocatableReplicas: count,
    availableReplicas: count + (previous[name] ?? 0),
    overflowOrder: tiers[name] ?? 0,
  }));
}

function assign(
  placement: Placement,
  replicas: number,
  free: Record<string, number>,
  previous: Record<string, number> = {},
  more: Partial<AssignmentInput> = {},
): Assignment {
  const spec: BindingSpecView = {
    resource,
    replicas,
    placement,
    clusters: Object.entries(previous).map(([name, count]) => ({ name, replicas: count })),
  };
  return assignReplicas({ candidates: candidates(free, previous), spec, ...more });
}

const replicasOf = (assignment: Assignment): Record<string, number | undefined> | string =>
  assignment.ok
    ? Object.fromEntries(assignment.clusters.map(({ name, replicas }) => [name, replicas]))
    : assignment.message;

const NOT_ENOUGH = (count: number, action = "failed to scale up"): string =>
  `${action}: Clusters available replicas ${count} are not enough to schedule.`;

describe("without capacity", () => {
  const three = { m1: 0, m2: 0, m3: 0 };
  const cases: Record<string, { placement: Placement; replicas: number; want: Record<string, number> }> = {
    "without a strategy every cluster gets all replicas": { placement: {}, replicas: 4, want: { m1: 4, m2: 4, m3: 4 } },
    "static weights divide": {
      placement: byWeight({ m1: 3, m2: 2, m3: 1 }),
      replicas: 13,
      want: { m1: 7, m2: 4, m3: 2 },
    },
    "a cluster without a weight rule gets nothing": { placement: byWeight({ m1: 1 }), replicas: 2, want: { m1: 2 } },
    "when no cluster has a weight rule all are equal": {
      placement: byWeight({ elsewhere: 1 }),
      replicas: 12,
      want: { m1: 4, m2: 4, m3: 4 },
    },
    "clusters without replicas are omitted": {
      placement: byWeight({ m1: 1, m2: 1, m3: 1 }),
      replicas: 2,
      want: { m1: 1, m2: 1 },
    },
  };
  for (const [behaviour, { placement, replicas, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(replicasOf(assign(placement, replicas, three))).toEqual(want);
    });
  }

  test("the largest of several matching weights counts", () => {
    const rules = [
      { targetCluster: { clusterNames: ["m1"] }, weight: 1 },
      { targetCluster: {}, weight: 1 },
      { targetCluster: { clusterNames: ["m1"] }, weight: 2 },
    ];
    const placement: Placement = {
      replicaScheduling: {
        replicaSchedulingType: "Divided",
        replicaDivisionPreference: "Weighted",
        weightPreference: { staticWeightList: rules },
      },
    };

    expect(replicasOf(assign(placement, 3, { m1: 0, m2: 0 }))).toEqual({ m1: 2, m2: 1 });
  });

  test("static weights ignore the previous result", () => {
    expect(replicasOf(assign(byWeight({ m1: 1, m2: 1, m3: 1 }), 6, three, { m1: 6 }))).toEqual({ m1: 2, m2: 2, m3: 2 });
  });
});

describe("by free capacity", () => {
  const cases: Record<
    string,
    {
      placement: Placement;
      replicas: number;
      free: Record<string, number>;
      previous?: Record<string, number>;
      want: Record<string, number> | string;
    }
  > = {
    "dynamic weights follow free capacity": {
      placement: dynamic,
      replicas: 12,
      free: { m1: 18, m2: 12, m3: 6 },
      want: { m1: 6, m2: 4, m3: 2 },
    },
    "insufficient capacity fails as a whole": {
      placement: dynamic,
      replicas: 12,
      free: { m1: 3, m2: 3, m3: 3 },
      want: NOT_ENOUGH(9),
    },
    "scaling down keeps the proportions": {
      placement: dynamic,
      replicas: 6,
      free: { m1: 0, m2: 0, m3: 0 },
      previous: { m1: 2, m2: 4, m3: 6 },
      want: { m1: 1, m2: 2, m3: 3 },
    },
    "scaling up divides only the difference": {
      placement: dynamic,
      replicas: 24,
      free: { m1: 10, m2: 10, m3: 10 },
      previous: { m1: 2, m2: 4, m3: 6 },
      want: { m1: 6, m2: 8, m3: 10 },
    },
    "an unchanged number stays in place": {
      placement: dynamic,
      replicas: 12,
      free: { m1: 50, m2: 0 },
      previous: { m1: 1, m2: 11 },
      want: { m1: 1, m2: 11 },
    },
    "replicas of a lost cluster move to the others": {
      placement: dynamic,
      replicas: 12,
      free: { m1: 3, m2: 3 },
      previous: { m1: 6, m3: 6 },
      want: { m1: 9, m2: 3 },
    },
    "Aggregated uses only the largest cluster if possible": {
      placement: aggregated,
      replicas: 12,
      free: { m1: 12, m2: 8, m3: 10 },
      want: { m1: 12 },
    },
    "Aggregated uses as few clusters as possible": {
      placement: aggregated,
      replicas: 12,
      free: { m1: 6, m2: 8, m3: 10 },
      want: { m2: 5, m3: 7 },
    },
    "Aggregated fills the clusters in use first": {
      placement: aggregated,
      replicas: 24,
      free: { m1: 6, m2: 6, m3: 20 },
      previous: { m1: 4, m2: 8 },
      want: { m1: 10, m2: 14 },
    },
    "Aggregated scales down to fewer clusters": {
      placement: aggregated,
      replicas: 6,
      free: { m1: 0, m2: 0 },
      previous: { m1: 4, m2: 8 },
      want: { m2: 6 },
    },
  };
  for (const [behaviour, { placement, replicas, free, previous, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(replicasOf(assign(placement, replicas, free, previous))).toEqual(want);
    });
  }

  test("a rebalance starts afresh and counts the resource's own replicas as free", () => {
    const spec: BindingSpecView = {
      resource,
      replicas: 12,
      placement: dynamic,
      clusters: [{ name: "m1", replicas: 12 }],
      rescheduleTriggeredAt: "2024-05-02T00:00:00Z",
    };

    const assignment = assignReplicas({
      candidates: candidates({ m1: 0, m2: 12 }, { m1: 12 }),
      spec,
      status: { lastScheduledTime: "2024-05-01T00:00:00Z" },
    });

    expect(replicasOf(assignment)).toEqual({ m1: 6, m2: 6 });
  });
});

describe("with overflow affinities", () => {
  const placement: Placement = {
    ...aggregated,
    clusterAffinities: [
      {
        affinityName: "home",
        clusterNames: ["m1"],
        overflowAffinities: [{ affinityName: "away", clusterNames: ["m2"] }],
      },
    ],
  };
  const overflow = (
    replicas: number,
    free: Record<string, number>,
    previous: Record<string, number> = {},
  ): Assignment => {
    const spec: BindingSpecView = {
      resource,
      replicas,
      placement,
      clusters: Object.entries(previous).map(([name, count]) => ({ name, replicas: count })),
    };
    return assignReplicas({
      candidates: candidates(free, previous, { m2: 1 }),
      spec,
      status: { schedulerObservingAffinityName: "home" },
    });
  };

  test("the primary clusters take as many as possible", () => {
    expect(replicasOf(overflow(5, { m1: 10, m2: 10 }))).toEqual({ m1: 5 });
  });

  test("the rest overflows to the next", () => {
    expect(replicasOf(overflow(5, { m1: 2, m2: 10 }))).toEqual({ m1: 2, m2: 3 });
    expect(replicasOf(overflow(8, { m1: 2, m2: 10 }, { m1: 3 }))).toEqual({ m1: 5, m2: 3 });
  });

  test("scaling down drains the last first", () => {
    expect(replicasOf(overflow(5, { m1: 0, m2: 7 }, { m1: 5, m2: 3 }))).toEqual({ m1: 5 });
  });

  test("insufficient capacity on all of them fails", () => {
    expect(overflow(10, { m1: 2, m2: 2 })).toMatchObject({ ok: false, cause: "capacity" });
  });
});

describe("edge cases", () => {
  test("a resource without replicas is placed on every cluster", () => {
    const assignment = assignReplicas({
      candidates: candidates({ m1: 0, m2: 0 }),
      spec: { resource, placement: dynamic },
    });

    expect(assignment).toEqual({ ok: true, clusters: [{ name: "m1" }, { name: "m2" }] });
  });

  test("clusters without replicas stay in the result when empty workload propagation is enabled", () => {
    expect(
      replicasOf(assign(byWeight({ m1: 1 }), 2, { m1: 0, m2: 0 }, {}, { enableEmptyWorkloadPropagation: true })),
    ).toEqual({ m1: 2, m2: 0 });
  });

  test("no candidates cause an error", () => {
    expect(assignReplicas({ candidates: [], spec: { resource, replicas: 1 } })).toMatchObject({
      ok: false,
      message: "no clusters available to schedule",
    });
  });

  test("Divided without a preference causes an error", () => {
    expect(assign({ replicaScheduling: { replicaSchedulingType: "Divided" } }, 1, { m1: 1 })).toMatchObject({
      ok: false,
      cause: "placement",
    });
  });
});
