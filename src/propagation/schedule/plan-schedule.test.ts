import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../base/index.ts";
import { APPLIED_PLACEMENT } from "../well-known.ts";
import type { BindingSpecView, BindingStatusView, ClusterView, Placement } from "./framework.ts";
import { planSchedule, type SchedulePlan, type ScheduleInput } from "./plan-schedule.ts";

const resource = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const byWeight: Placement = { replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" } };

function cluster(name: string, more: { labels?: Record<string, string>; deleting?: boolean; tainted?: boolean; serves?: boolean } = {}): ClusterView {
  const { labels, deleting = false, tainted = false, serves = true } = more;
  return {
    metadata: { name, ...(labels && { labels }), ...(deleting && { deletionTimestamp: "2024-05-01T00:00:00Z" }) },
    spec: { ...(tainted && { taints: [{ key: "maint", effect: "NoSchedule" }] }) },
    status: { apiEnablements: serves ? [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }] : [] },
  };
}

interface Case {
  spec: Partial<BindingSpecView>;
  status?: BindingStatusView;
  applied?: Placement;
  clusters: ClusterView[];
}

function plan({ spec, status, applied, clusters }: Case): SchedulePlan {
  const input: ScheduleInput = {
    binding: { metadata: applied ? { annotations: { [APPLIED_PLACEMENT]: JSON.stringify(applied) } } : {}, spec: { resource, ...spec }, ...(status && { status }) },
    clusters,
  };
  return planSchedule(deepFreeze(input));
}

const targets = (result: SchedulePlan): unknown => (result.outcome === "scheduled" ? result.clusters : result.outcome);

describe("a new binding", () => {
  test("goes to every cluster that fits, sorted by name", () => {
    const result = plan({ spec: { replicas: 2 }, clusters: [cluster("paris"), cluster("oslo"), cluster("rome", { tainted: true })] });

    expect(targets(result)).toEqual([{ name: "oslo", replicas: 2 }, { name: "paris", replicas: 2 }]);
  });

  test("is divided over them by static weights", () => {
    const result = plan({ spec: { replicas: 3, placement: byWeight }, clusters: [cluster("oslo"), cluster("paris")] });

    expect(targets(result)).toEqual([{ name: "oslo", replicas: 2 }, { name: "paris", replicas: 1 }]);
  });

  test("keeps what every cluster was told", () => {
    const result = plan({ spec: { replicas: 1 }, clusters: [cluster("oslo"), cluster("paris", { tainted: true }), cluster("rome", { deleting: true })] });

    expect(result).toMatchObject({
      verdicts: [
        { cluster: "oslo", verdict: { fits: true } },
        { cluster: "paris", verdict: { fits: false, reason: "cluster(s) had untolerated taint {maint:NoSchedule}" }, plugin: "TaintToleration" },
        { cluster: "rome", verdict: { fits: false, reason: "cluster is being removed" } },
      ],
    });
  });
});

describe("when no cluster fits", () => {
  test("the message counts the reasons, sorted, over all clusters", () => {
    const clusters = [cluster("oslo", { serves: false }), cluster("paris", { tainted: true }), cluster("rome", { serves: false }), cluster("bern", { deleting: true })];

    expect(plan({ spec: { replicas: 1 }, clusters })).toMatchObject({
      outcome: "unschedulable",
      reason: "NoClusterFit",
      message: "0/4 clusters are available: 1 cluster(s) had untolerated taint {maint:NoSchedule}, 2 cluster(s) did not have the API resource.",
    });
  });

  test("a fleet without clusters says so", () => {
    expect(plan({ spec: { replicas: 1 }, clusters: [] })).toMatchObject({ message: "0/0 clusters are available: no cluster exists." });
  });
});

describe("a scheduled binding", () => {
  const clusters = [cluster("oslo"), cluster("paris")];
  const scheduled = { replicas: 2, placement: byWeight, clusters: [{ name: "oslo", replicas: 2 }] };

  test("stays where it is while nothing that counts has changed", () => {
    expect(plan({ spec: scheduled, applied: byWeight, clusters })).toEqual({ outcome: "unchanged" });
  });

  const reasons: Record<string, Partial<Case>> = {
    "its placement changed": { applied: {} },
    "the record of its placement is damaged": { applied: "broken" as Placement },
    "its replicas changed": { spec: { ...scheduled, replicas: 3 } },
    "a rebalance was asked for": { spec: { ...scheduled, rescheduleTriggeredAt: "2024-05-02T00:00:00Z" }, status: { lastScheduledTime: "2024-05-01T00:00:00Z" } },
    "a cluster of its is being removed": { clusters: [cluster("oslo", { deleting: true }), cluster("paris")] },
    "it is duplicated, so a new cluster gets it too": { spec: { replicas: 2, clusters: [{ name: "oslo", replicas: 2 }] }, applied: {} },
  };
  for (const [reason, change] of Object.entries(reasons)) {
    test(`is scheduled again when ${reason}`, () => {
      expect(plan({ spec: scheduled, applied: byWeight, clusters, ...change }).outcome).toBe("scheduled");
    });
  }

  test("leaves the cluster that is being removed", () => {
    const result = plan({ spec: scheduled, applied: byWeight, clusters: [cluster("oslo", { deleting: true }), cluster("paris")] });

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

  test("the first that fits is taken", () => {
    expect(plan({ spec: { placement }, clusters: [cluster("oslo"), cluster("paris")] })).toMatchObject({ clusters: [{ name: "oslo" }], affinityName: "home" });
  });

  test("the next is tried when no cluster of one fits", () => {
    expect(plan({ spec: { placement }, clusters: [cluster("oslo", { tainted: true }), cluster("paris")] })).toMatchObject({ clusters: [{ name: "paris" }], affinityName: "away" });
  });

  test("an earlier one is not returned to by itself", () => {
    const status = { schedulerObservingAffinityName: "away" };

    expect(plan({ spec: { placement }, status, clusters: [cluster("oslo"), cluster("paris")] })).toMatchObject({ affinityName: "away" });
  });

  test("when all fail the first tells why", () => {
    const result = plan({ spec: { placement }, clusters: [cluster("oslo", { tainted: true }), cluster("paris", { serves: false })] });

    expect(result).toMatchObject({ message: "0/2 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint, 1 cluster(s) had untolerated taint {maint:NoSchedule}." });
  });
});

describe("what cannot be honoured yet is said", () => {
  const cases: Record<string, Placement> = {
    "dynamic weights": { replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted", weightPreference: { dynamicWeight: "AvailableReplicas" } } },
    Aggregated: { replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Aggregated" } },
    "spread constraints": { spreadConstraints: [{ spreadByField: "cluster", maxGroups: 1 }] },
  };
  for (const [what, placement] of Object.entries(cases)) {
    test(what, () => {
      expect(plan({ spec: { replicas: 2, placement }, clusters: [cluster("oslo")] })).toMatchObject({ reason: "SchedulerError", message: expect.stringContaining("does not support") });
    });
  }
});
