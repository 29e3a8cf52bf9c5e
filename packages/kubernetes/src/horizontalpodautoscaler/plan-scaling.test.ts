/** The size that an autoscaler wants, where its metrics do not decide or cannot be read. */
import { expect, test } from "vitest";
import { planScaling } from "./plan-scaling.ts";
import type { ScalingInput, ScalingPlan } from "./plan-scaling.ts";
import type { ReadonlyAutoscaler } from "./scaling-limits.ts";

const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } };

function plan({ replicas = 3, selector = "app=web" }, rest: Partial<ScalingInput> = {}): ScalingPlan {
  const autoscaler: ReadonlyAutoscaler = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      minReplicas: 2,
      maxReplicas: 5,
      metrics: [cpu],
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    },
  };
  return planScaling({
    autoscaler,
    cluster: "paris",
    scale: { replicas, selector } as ScalingInput["scale"],
    history: { recommendations: [], ups: [], downs: [] },
    podsOf: () => [],
    usage: undefined,
    nowMs: 1_000,
    ...rest,
  });
}

test("disables scaling of a target with zero replicas", () => {
  expect(plan({ replicas: 0 })).toMatchObject({
    desired: 0,
    conditions: [{ type: "ScalingActive", isTrue: false, reason: "ScalingDisabled" }],
    recommendations: [],
  });
});

test("scales a target outside its limits to the limit, whatever the metrics are", () => {
  expect(plan({ replicas: 9 })).toMatchObject({ desired: 5, conditions: [], events: [] });
  expect(plan({ replicas: 1 })).toMatchObject({ desired: 2, conditions: [], events: [] });
});

test("wants no size without a selector, and reports that", () => {
  const { desired, conditions, events } = plan({ selector: "" });

  expect(desired).toBeUndefined();
  expect(conditions).toMatchObject([{ type: "ScalingActive", isTrue: false, reason: "InvalidSelector" }]);
  expect(events).toEqual([{ type: "Warning", reason: "SelectorRequired", message: "selector is required" }]);
});

test("wants no size if no metric is available, and remembers no recommendation", () => {
  const { desired, conditions, events, recommendations } = plan({});

  expect(desired).toBeUndefined();
  expect(conditions).toMatchObject([{ type: "ScalingActive", isTrue: false, reason: "FailedGetResourceMetric" }]);
  expect(events.map(({ reason }) => reason)).toEqual(["FailedGetResourceMetric", "FailedComputeMetricsReplicas"]);
  expect(recommendations).toEqual([]);
});
