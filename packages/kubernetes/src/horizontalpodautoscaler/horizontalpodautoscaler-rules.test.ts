import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { HorizontalPodAutoscaler } from "./horizontalpodautoscaler-kind.ts";
import { toV1, toV2 } from "./hpa-conversion.ts";
import { checkAutoscaler } from "./hpa-validation.ts";
import { defaultAutoscaler } from "./hpa-defaults.ts";

const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const cpu = (averageUtilization: number): object => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
});
const pods = { type: "Pods", pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "5" } } };
const makeAutoscaler = (spec: object = {}, rest: object = {}): HorizontalPodAutoscaler => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "a", namespace: "shop" },
  spec: { scaleTargetRef, maxReplicas: 5, ...spec },
  ...rest,
});
const problems = (spec: object): string[] =>
  checkAutoscaler(defaultAutoscaler(makeAutoscaler(spec)).spec, undefined).map(
    ({ field, message }) => `${field}: ${message}`,
  );

test("without metrics it targets 80% CPU utilization", () => {
  expect(defaultAutoscaler(makeAutoscaler()).spec).toMatchObject({ minReplicas: 1, metrics: [cpu(80)] });
});

test("a partial behavior is defaulted", () => {
  const { behavior } = defaultAutoscaler(
    makeAutoscaler({ behavior: { scaleDown: { selectPolicy: "Disabled" } } }),
  ).spec;

  expect(behavior?.scaleUp?.policies).toHaveLength(2);
  expect(behavior?.scaleDown).toEqual({
    selectPolicy: "Disabled",
    policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
  });
});

test("fields that v1 lacks round-trip through annotations", () => {
  const stored = defaultAutoscaler(
    makeAutoscaler(
      { metrics: [pods, cpu(50)], behavior: { scaleUp: { tolerance: "50m" } } },
      {
        status: {
          currentReplicas: 1,
          desiredReplicas: 2,
          currentMetrics: [
            { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 40, averageValue: "100m" } } },
          ],
          conditions: [{ type: "A", status: "True" }],
        },
      },
    ),
  );

  const old = toV1(stored as unknown as JsonObject);

  expect(old).toMatchObject({
    spec: { targetCPUUtilizationPercentage: 50 },
    status: { currentCPUUtilizationPercentage: 40 },
  });
  expect((old.metadata as JsonObject).annotations).toMatchObject({
    "autoscaling.alpha.kubernetes.io/metrics": '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"5"}}]',
  });
  expect(toV2(old)).toEqual(stored);
});

test("malformed conversion annotations are ignored", () => {
  const annotations = {
    "autoscaling.alpha.kubernetes.io/metrics": "[1",
    "autoscaling.alpha.kubernetes.io/behavior": "[]",
    "autoscaling.alpha.kubernetes.io/conditions": "null",
    keep: "me",
  };

  const { metadata, spec } = toV2(
    makeAutoscaler(
      { targetCPUUtilizationPercentage: 30 },
      { metadata: { name: "a", annotations } },
    ) as unknown as JsonObject,
  );

  expect(metadata).toEqual({ name: "a", annotations: { keep: "me" } });
  expect(spec).toMatchObject({ metrics: [cpu(30)] });
});

const cases: Record<string, [spec: object, want: string[]]> = {
  "the scale target must have an API group": [
    { scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "v1" } },
    ['spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'],
  ],
  "maxReplicas must be positive and at least minReplicas": [
    { maxReplicas: 0 },
    [
      "spec.maxReplicas: Required value: must be set and greater than 0",
      "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
    ],
  ],
  "a metric must have the source that its type names": [
    { metrics: [{ type: "Resource", pods: pods.pods }] },
    ["spec.metrics[0].resource: Required value: must populate information for the given metric source"],
  ],
  "a resource target is either a utilization or a raw value": [
    {
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50, averageValue: "1" } },
        },
      ],
    },
    [
      "spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization",
    ],
  ],
  "scaling to zero with CPU metrics alone is rejected": [
    { minReplicas: 0 },
    [
      "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
      "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
    ],
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(problems(spec)).toEqual(want);
  });
}

test("the table shows two metrics and counts the rest", () => {
  const autoscaler = makeAutoscaler({ metrics: [cpu(50), pods, pods] });
  const { columns } = HorizontalPodAutoscaler.versions.v2 ?? { columns: [] };

  expect(columns.find(({ name }) => name === "Targets")?.value?.(autoscaler as never, 0)).toBe(
    "cpu: <unknown>/50%, <unknown>/5 + 1 more...",
  );
});

test("validation does not crash when all fields are missing", () => {
  expect(
    problems({
      scaleTargetRef: {},
      maxReplicas: undefined,
      metrics: [
        {},
        { type: "Object", object: {} },
        { type: "External", external: {} },
        { type: "ContainerResource", containerResource: {} },
      ],
      behavior: { scaleUp: { policies: [{}] } },
    }).length,
  ).toBeGreaterThan(10);
});
