import { describe, expect, test } from "vitest";
import type { CycleMeter } from "../meter.ts";
import type { Placement } from "./framework.ts";
import type { ClusterView } from "./fleet-cluster.ts";
import { scheduleType, type BindingView } from "./needs-scheduling.ts";
import { planSchedule } from "./plan-schedule.ts";
import { APPLIED_PLACEMENT } from "@flotilla/karmada";

const resource = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const divided: Placement = {
  replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
};

const cluster = (name: string, tainted = false): ClusterView => ({
  metadata: { name },
  spec: { taints: tainted ? [{ key: "maint", effect: "NoSchedule" }] : undefined },
  status: { apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }] },
});

/** Every read of the clock is a millisecond later. */
function createMeter(): { meter: CycleMeter; reported: string[] } {
  const reported: string[] = [];
  let nowMs = 0;
  return {
    reported,
    meter: {
      nowMs: () => nowMs++,
      step: (step) => void reported.push(step),
      point: (point, _tookMs, fits) => void reported.push(`${point} of one cluster ${fits ? "fits" : "does not fit"}`),
      plugin: (plugin, point) => void reported.push(`${point} ${plugin}`),
    },
  };
}

describe("a meter", () => {
  test("measures the steps of a decision, and the plugins on one cluster, without changing the decision", () => {
    const input = {
      binding: { metadata: {}, spec: { resource, replicas: 3, placement: divided } },
      clusters: [cluster("oslo"), cluster("paris"), cluster("rome", true)],
    };
    const { meter, reported } = createMeter();

    const measured = planSchedule({ ...input, meter });

    expect(measured).toEqual(planSchedule(input));
    expect(reported).toEqual([
      ...["ClusterAffinity", "ClusterEviction", "TaintToleration", "APIEnablement", "SpreadConstraint"].map(
        (plugin) => `Filter ${plugin}`,
      ),
      "Filter of one cluster fits",
      "Filter",
      "Score ClusterLocality",
      "Score ClusterAffinity",
      "Score of one cluster fits",
      "Score",
      "Select",
      "AssignReplicas",
    ]);
  });

  test("measures the rejection of a cluster where none fits", () => {
    const { meter, reported } = createMeter();

    planSchedule({
      binding: { metadata: {}, spec: { resource, replicas: 3 } },
      clusters: [cluster("rome", true)],
      meter,
    });

    expect(reported).toEqual([
      "Filter ClusterAffinity",
      "Filter ClusterEviction",
      "Filter TaintToleration",
      "Filter of one cluster does not fit",
      "Filter",
      "Score",
    ]);
  });
});

describe("the schedule type", () => {
  const binding = (placement: Placement, replicas: number, shares: number[], applied = placement): BindingView => ({
    metadata: { annotations: { [APPLIED_PLACEMENT]: JSON.stringify(applied) } },
    spec: {
      resource,
      replicas,
      placement,
      clusters: shares.map((share, index) => ({ name: `member${index}`, replicas: share })),
    },
  });
  const cases: Record<string, { binding: BindingView; want: string }> = {
    "of a new binding is ReconcileSchedule": { binding: binding(divided, 3, []), want: "ReconcileSchedule" },
    "of a binding with changed replicas is ScaleSchedule": {
      binding: binding(divided, 4, [1, 2]),
      want: "ScaleSchedule",
    },
    "of a duplicated binding with changed replicas is ScaleSchedule": {
      binding: binding({}, 4, [3, 3]),
      want: "ScaleSchedule",
    },
    "of a binding with another placement is ReconcileSchedule, regardless of replicas": {
      binding: binding(divided, 4, [1, 2], {}),
      want: "ReconcileSchedule",
    },
    "of an unchanged binding is ReconcileSchedule": { binding: binding(divided, 3, [1, 2]), want: "ReconcileSchedule" },
  };
  for (const [behaviour, { binding: asked, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(scheduleType(asked)).toBe(want);
    });
  }
});
