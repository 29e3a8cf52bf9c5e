import { expect, test } from "vitest";
import type { CronFederatedHpa, FederatedHpa } from "@flotilla/karmada";
import { describeAutoscaler, describeCron, reportAutoscaler, reportCron } from "./autoscalers.ts";

const NOW_MS = Date.parse("2024-05-01T12:00:00Z");
const hpa = (status: object): FederatedHpa =>
  ({
    apiVersion: "autoscaling.karmada.io/v1alpha1",
    kind: "FederatedHPA",
    metadata: { namespace: "shop", name: "web", creationTimestamp: "2024-05-01T10:00:00Z" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 2,
      maxReplicas: 10,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
      ],
    },
    status,
  }) as unknown as FederatedHpa;
const condition = (type: string, status: string, reason: string, since: string, message = "") => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: since,
});
const currentMetrics = [
  { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 180, averageValue: "900m" } } },
];

test("an autoscaler that wants more than its maximum for long is reported with the metric", () => {
  const limited = (since: string) => ({
    currentMetrics,
    conditions: [condition("ScalingLimited", "True", "TooManyReplicas", since)],
  });

  expect(reportAutoscaler(hpa(limited("2024-05-01T11:30:00Z")), NOW_MS)).toEqual([
    {
      problem: "autoscaler at its maximum",
      what: "Deployment web has been at its maximum of 10 replicas for 30m and needs more: cpu is at 180 % of the requests, 50 % is the target",
      try: "raise spec.maxReplicas, or find out why the load stays",
    },
  ]);
  expect(reportAutoscaler(hpa(limited("2024-05-01T11:50:00Z")), NOW_MS)).toEqual([]);
});

test("an autoscaler that is never evaluated is reported, and a new one is not", () => {
  expect(reportAutoscaler(hpa({}), NOW_MS).map(({ what }) => what)).toEqual([
    "it has not been evaluated for 120m, so Deployment web is not scaled",
  ]);
  expect(reportAutoscaler(hpa({}), Date.parse("2024-05-01T10:00:30Z"))).toEqual([]);
});

test("the last scaling is described with its numbers, and members that were not read", () => {
  const status = {
    currentReplicas: 6,
    lastScaleTime: "2024-05-01T11:58:00Z",
    currentMetrics,
    conditions: [
      condition(
        "ScalingActive",
        "True",
        "ValidMetricFound",
        "2024-05-01T10:00:10Z",
        "found; not read: m3 (it is not ready)",
      ),
    ],
  };
  const rescales = [
    { message: "New size: 3; reason: All metrics below target", atMs: NOW_MS - 600_000 },
    { message: "New size: 6; reason: cpu resource utilization above target", atMs: NOW_MS - 120_000 },
  ];

  expect(describeAutoscaler(hpa(status), rescales, NOW_MS)).toEqual([
    "FederatedHPA web: 6 replicas, between 2 and 10; scaled from 3 to 6 replicas 2m ago: cpu resource utilization above target",
    "  cpu is at 180 % of the requests, 50 % is the target",
    "  not read: m3 (it is not ready)",
  ]);
});

const cron = (history: object): CronFederatedHpa => ({
  apiVersion: "autoscaling.karmada.io/v1alpha1",
  kind: "CronFederatedHPA",
  metadata: { namespace: "shop", name: "nightly" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    rules: [{ name: "down", schedule: "0 20 * * *", targetReplicas: 2 }],
  },
  status: { executionHistories: [{ ruleName: "down", nextExecutionTime: "2024-05-01T20:00:00Z", ...history }] },
});

test("a rule whose last run failed is reported until a run succeeds", () => {
  const failed = { executionTime: "2024-05-01T11:00:00Z", message: 'deployments "web" not found' };
  const failing = cron({ failedExecutions: [failed] });
  const recovered = cron({
    failedExecutions: [failed],
    successfulExecutions: [{ executionTime: "2024-05-01T11:30:00Z" }],
  });

  expect(reportCron(failing, NOW_MS).map(({ what }) => what)).toEqual([
    'rule down failed to scale Deployment web 60m ago: deployments "web" not found',
  ]);
  expect(reportCron(recovered, NOW_MS)).toEqual([]);
  expect(describeCron(recovered, NOW_MS)).toEqual([
    "CronFederatedHPA nightly, rule down: sets 2 replicas; ran 30m ago; runs at 2024-05-01T20:00:00Z",
  ]);
});
