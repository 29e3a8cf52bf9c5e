/** The size that an autoscaler wants, where its metrics do not decide or cannot be read. */
import { expect, test } from "vitest";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { planScaling } from "./plan-scaling.ts";
import type { ScalingInput, ScalingPlan } from "./plan-scaling.ts";
import type { ReadonlyAutoscaler } from "./scaling-limits.ts";

type Metrics = ReadonlyAutoscaler["spec"]["metrics"];
const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } };

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");
const runningPod = (name: string): ReadonlyPod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop" },
  spec: { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "100m" } } }] },
  status: {
    phase: "Running",
    startTime: "2026-05-01T08:00:00Z",
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-05-01T08:01:00Z" }],
  },
});

function plan(
  { replicas = 3, selector = "app=web", metrics = [cpu] }: { replicas?: number; selector?: string; metrics?: Metrics },
  rest: Partial<ScalingInput> = {},
): ScalingPlan {
  const autoscaler: ReadonlyAutoscaler = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      minReplicas: 2,
      maxReplicas: 5,
      metrics,
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

test("names a recent recommendation as the reason where it scales up and the metrics do not", () => {
  const usage = { podUsage: () => ({ cpu: 40, memory: 0, containers: [] }) };
  const podsOf = () => ["web-0", "web-1"].map(runningPod);
  const history = { recommendations: [{ atMs: NOW_MS - 15_000, replicas: 4 }], ups: [], downs: [] };

  expect(plan({ replicas: 2 }, { usage, podsOf, history, nowMs: NOW_MS })).toMatchObject({
    desired: 4,
    reason: "the highest recommendation of the last 5 minutes is 4 replicas",
  });
});

test("divides an external metric by the pods that exist, and asks for those that its target needs", () => {
  const metrics = [
    { type: "External", external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "1" } } },
  ];
  const values = { ofPods: () => "", ofObject: () => "", external: () => ({ milli: 4_000, isPartial: false }) };
  const scale = { replicas: 4, currentReplicas: 2, selector: "app=web" } as ScalingInput["scale"];

  expect(plan({ metrics }, { scale, values })).toMatchObject({
    desired: 4,
    metrics: [{ type: "External", external: { current: { averageValue: "2" } } }],
  });
});
