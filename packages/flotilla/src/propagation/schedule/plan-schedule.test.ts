import { describe, expect, test } from "vitest";
import { deepFreeze, defined } from "@flotilla/base";
import type { BindingSpecView, BindingStatusView, Placement } from "./framework.ts";
import type { ClusterView } from "./fleet-cluster.ts";
import { planSchedule, type SchedulePlan, type ScheduleInput } from "./plan-schedule.ts";
import { APPLIED_PLACEMENT } from "@flotilla/karmada";

const resource = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const byWeight: Placement = {
  replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
};

function cluster(
  name: string,
  more: { labels?: Record<string, string>; deleting?: boolean; tainted?: boolean; serves?: boolean } = {},
): ClusterView {
  const { labels, deleting = false, tainted = false, serves = true } = more;
  return {
    metadata: { name, labels, deletionTimestamp: deleting ? "2024-05-01T00:00:00Z" : undefined },
    spec: { taints: tainted ? [{ key: "maint", effect: "NoSchedule" }] : undefined },
    status: {
      apiEnablements: serves
        ? [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }]
        : [],
    },
  };
}

interface Case {
  spec: Partial<BindingSpecView>;
  status?: BindingStatusView;
  applied?: Placement;
  annotations?: Record<string, string>;
  clusters: ClusterView[];
  nowMs?: number;
}

function plan({ spec, status, applied, annotations, clusters, nowMs = 0 }: Case): SchedulePlan {
  const metadata = {
    annotations: { ...annotations, ...defined({ [APPLIED_PLACEMENT]: applied ? JSON.stringify(applied) : undefined }) },
  };
  const input: ScheduleInput = { binding: { metadata, spec: { resource, ...spec }, status }, clusters, nowMs };
  return planSchedule(deepFreeze(input) as ScheduleInput);
}

const targets = (result: SchedulePlan): unknown => (result.outcome === "scheduled" ? result.clusters : result.outcome);

describe("a new binding", () => {
  test("is placed on every cluster that fits, sorted by name", () => {
    const result = plan({
      spec: { replicas: 2 },
      clusters: [cluster("paris"), cluster("oslo"), cluster("rome", { tainted: true })],
    });

    expect(targets(result)).toEqual([
      { name: "oslo", replicas: 2 },
      { name: "paris", replicas: 2 },
    ]);
  });

  test("is divided by static weights", () => {
    const result = plan({ spec: { replicas: 3, placement: byWeight }, clusters: [cluster("oslo"), cluster("paris")] });

    expect(targets(result)).toEqual([
      { name: "oslo", replicas: 2 },
      { name: "paris", replicas: 1 },
    ]);
  });

  test("keeps the verdict of every cluster", () => {
    const result = plan({
      spec: { replicas: 1 },
      clusters: [cluster("oslo"), cluster("paris", { tainted: true }), cluster("rome", { deleting: true })],
    });

    expect(result).toMatchObject({
      verdicts: [
        { cluster: "oslo", score: 0, replicas: 1 },
        {
          cluster: "paris",
          rejectedBy: "TaintToleration",
          reason: "cluster(s) had untolerated taint {maint:NoSchedule}",
        },
        { cluster: "rome", reason: "cluster is being removed" },
      ],
    });
  });
});

describe("when no cluster fits", () => {
  test("the message counts the reasons, sorted, over all clusters", () => {
    const clusters = [
      cluster("oslo", { serves: false }),
      cluster("paris", { tainted: true }),
      cluster("rome", { serves: false }),
      cluster("bern", { deleting: true }),
    ];

    expect(plan({ spec: { replicas: 1 }, clusters })).toMatchObject({
      outcome: "unschedulable",
      reason: "NoClusterFit",
      message:
        "0/4 clusters are available: 1 cluster(s) had untolerated taint {maint:NoSchedule}, 2 cluster(s) did not have the API resource.",
    });
  });

  test("the binding stays in place, except on clusters that have left the fleet", () => {
    const placement: Placement = { clusterAffinity: { clusterNames: ["rome"] } };
    const clusters = [
      { name: "oslo", replicas: 2 },
      { name: "gone", replicas: 1 },
    ];

    expect(plan({ spec: { placement, clusters }, clusters: [cluster("oslo")] })).toMatchObject({
      outcome: "unschedulable",
      staying: [{ name: "oslo", replicas: 2 }],
    });
    expect(plan({ spec: { placement, clusters: clusters.slice(0, 1) }, clusters: [cluster("oslo")] })).toEqual(
      expect.objectContaining({ outcome: "unschedulable", staying: undefined }),
    );
  });

  test("a fleet without clusters is reported", () => {
    expect(plan({ spec: { replicas: 1 }, clusters: [] })).toMatchObject({
      message: "0/0 clusters are available: no cluster exists.",
    });
  });
});

describe("a scheduled binding", () => {
  const clusters = [cluster("oslo"), cluster("paris")];
  const scheduled = { replicas: 2, placement: byWeight, clusters: [{ name: "oslo", replicas: 2 }] };

  test("stays in place while nothing relevant has changed", () => {
    expect(plan({ spec: scheduled, applied: byWeight, clusters })).toEqual({ outcome: "unchanged" });
  });

  const reasons: Record<string, Partial<Case>> = {
    "its placement changed": { applied: {} },
    "the record of its placement is corrupt": { applied: "broken" as Placement },
    "its replicas changed": { spec: { ...scheduled, replicas: 3 } },
    "a rebalance was requested": {
      spec: { ...scheduled, rescheduleTriggeredAt: "2024-05-02T00:00:00Z" },
      status: { lastScheduledTime: "2024-05-01T00:00:00Z" },
    },
    "it is evicted from a cluster": {
      spec: {
        ...scheduled,
        gracefulEvictionTasks: [{ fromCluster: "oslo", reason: "TaintUntolerated", producer: "TaintManager" }],
      },
    },
    "one of its clusters no longer exists": { clusters: [cluster("paris")] },
    "one of its clusters is being removed": { clusters: [cluster("oslo", { deleting: true }), cluster("paris")] },
    "it is duplicated, so a new cluster gets it too": {
      spec: { replicas: 2, clusters: [{ name: "oslo", replicas: 2 }] },
      applied: {},
    },
  };
  for (const [reason, change] of Object.entries(reasons)) {
    test(`is scheduled again when ${reason}`, () => {
      expect(plan({ spec: scheduled, applied: byWeight, clusters, ...change }).outcome).toBe("scheduled");
    });
  }

  test("leaves the cluster that is being removed", () => {
    const result = plan({
      spec: scheduled,
      applied: byWeight,
      clusters: [cluster("oslo", { deleting: true }), cluster("paris")],
    });

    expect(targets(result)).toEqual([{ name: "paris", replicas: 2 }]);
  });
});

describe("with several affinities", () => {
  const placement: Placement = {
    clusterAffinities: [
      { affinityName: "home", clusterNames: ["oslo"] },
      { affinityName: "away", clusterNames: ["paris"] },
    ],
  };

  test("the first that fits is used", () => {
    expect(plan({ spec: { placement }, clusters: [cluster("oslo"), cluster("paris")] })).toMatchObject({
      clusters: [{ name: "oslo" }],
      affinityName: "home",
    });
  });

  test("the next is tried when no cluster of one fits", () => {
    expect(
      plan({ spec: { placement }, clusters: [cluster("oslo", { tainted: true }), cluster("paris")] }),
    ).toMatchObject({ clusters: [{ name: "paris" }], affinityName: "away" });
  });

  test("a binding does not return to an earlier one by itself", () => {
    const status = { schedulerObservingAffinityName: "away" };

    expect(plan({ spec: { placement }, status, clusters: [cluster("oslo"), cluster("paris")] })).toMatchObject({
      affinityName: "away",
    });
  });

  test("when several affinities all fail, the message of the first is reported", () => {
    const result = plan({
      spec: { placement },
      clusters: [cluster("oslo", { tainted: true }), cluster("paris", { serves: false })],
    });

    expect(result).toMatchObject({
      message:
        "0/2 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint, 1 " +
        "cluster(s) had untolerated taint {maint:NoSchedule}.",
    });
  });
});

describe("the return to an earlier affinity", () => {
  const placement: Placement = {
    clusterAffinities: [
      { affinityName: "home", clusterNames: ["oslo"] },
      { affinityName: "away", clusterNames: ["paris"] },
    ],
  };
  const LAST = "2024-05-01T00:00:00Z";
  const fallenBack: Case = {
    spec: { placement, replicas: 2, clusters: [{ name: "paris", replicas: 2 }] },
    status: { schedulerObservingAffinityName: "away", lastScheduledTime: LAST },
    applied: placement,
    annotations: { "flotilla.dev/return-after-seconds": "300" },
    clusters: [cluster("oslo"), cluster("paris")],
    nowMs: Date.parse(LAST) + 300_000,
  };

  test("happens when the policy enables it and it is due, with graceful eviction", () => {
    expect(plan(fallenBack)).toMatchObject({
      outcome: "scheduled",
      affinityName: "home",
      clusters: [{ name: "oslo", replicas: 2 }],
      evictions: [
        {
          fromCluster: "paris",
          purgeMode: "Gracefully",
          replicas: 2,
          reason: "AffinityReturned",
          producer: "Scheduler",
          creationTimestamp: "2024-05-01T00:05:00Z",
          clustersBeforeFailover: ["paris"],
        },
      ],
    });
  });

  test("waits until it is due", () => {
    expect(plan({ ...fallenBack, nowMs: Date.parse(LAST) + 1000 })).toMatchObject({
      affinityName: "away",
      returnsAtMs: Date.parse(LAST) + 300_000,
    });
  });

  test("is retried at every change while the earlier affinity does not fit", () => {
    expect(plan({ ...fallenBack, clusters: [cluster("oslo", { tainted: true }), cluster("paris")] })).toMatchObject({
      affinityName: "away",
      returnsAtMs: Infinity,
    });
  });

  const closed: Record<string, Partial<Case>> = {
    "the policy does not enable it": { annotations: {} },
    "the annotation is not a number of seconds": { annotations: { "flotilla.dev/return-after-seconds": "soon" } },
    "the first affinity is already used": {
      status: { schedulerObservingAffinityName: "home", lastScheduledTime: LAST },
      clusters: [cluster("oslo"), cluster("paris")],
    },
  };
  for (const [reason, change] of Object.entries(closed)) {
    test(`does not happen when ${reason}`, () => {
      const result = plan({ ...fallenBack, ...change });

      expect(result).not.toHaveProperty("evictions");
      expect(result).not.toHaveProperty("returnsAtMs");
    });
  }

  test("happens at once with a rebalance", () => {
    const result = plan({
      ...fallenBack,
      annotations: {},
      spec: { ...fallenBack.spec, rescheduleTriggeredAt: "2024-05-02T00:00:00Z" },
    });

    expect(result).toMatchObject({ affinityName: "home", clusters: [{ name: "oslo" }] });
  });
});

describe("a multi-component workload", () => {
  const components = [
    { name: "head", replicas: 1, replicaRequirements: { resourceRequest: { cpu: "1" } } },
    { name: "worker", replicas: 3, replicaRequirements: { resourceRequest: { cpu: "1" } } },
  ];
  const placement: Placement = {
    spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
    replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Aggregated" },
  };
  const sized = (name: string, cpu: string): ClusterView => ({
    ...cluster(name),
    status: { ...cluster(name).status, resourceSummary: { allocatable: { cpu, pods: "110" } } },
  });

  test("is placed on one cluster with room for all components when enabled", () => {
    const binding = { metadata: {}, spec: { resource, components, placement } };
    const clusters = [sized("oslo", "3"), sized("paris", "4")];

    expect(planSchedule({ binding, clusters, multiplePodTemplatesScheduling: true })).toMatchObject({
      clusters: [{ name: "paris" }],
    });
  });

  test("stays in place while nothing relevant has changed", () => {
    expect(
      plan({
        spec: { components, placement, clusters: [{ name: "oslo" }] },
        applied: placement,
        clusters: [cluster("oslo"), cluster("paris")],
      }),
    ).toEqual({ outcome: "unchanged" });
  });
});

describe("an eviction task", () => {
  const spec: Partial<BindingSpecView> = {
    replicas: 4,
    placement: byWeight,
    clusters: [
      { name: "oslo", replicas: 2 },
      { name: "rome", replicas: 2 },
    ],
    gracefulEvictionTasks: [{ fromCluster: "oslo", reason: "Test", producer: "test" }],
  };

  test("takes effect by choosing other clusters, although nothing else has changed", () => {
    const result = plan({ spec, applied: byWeight, clusters: [cluster("oslo"), cluster("rome")] });

    expect(targets(result)).toEqual([{ name: "rome", replicas: 4 }]);
  });

  test("changes nothing once it has taken effect", () => {
    const result = plan({
      spec: { ...spec, clusters: [{ name: "rome", replicas: 4 }] },
      applied: byWeight,
      clusters: [cluster("oslo"), cluster("rome")],
    });

    expect(result.outcome).toBe("unchanged");
  });
});
