import { expect, test } from "vitest";
import type { StatusItem } from "@flotilla/kubernetes";
import { sparkApplicationInterpreter } from "./sparkapplication.ts";

type SparkApplication = Parameters<NonNullable<typeof sparkApplicationInterpreter.components>>[0];
const makeApplication = (spec: SparkApplication["spec"]): SparkApplication => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "pi" },
  spec,
});

test("a driver and its executors request their cores, memory and devices", () => {
  const application = makeApplication({
    type: "Scala",
    driver: { cores: 2, memory: "512m" },
    executor: {
      instances: 3,
      memory: "10g",
      gpu: { name: "nvidia.com/gpu", quantity: 1 },
      nodeSelector: { disk: "ssd" },
    },
  });

  expect(sparkApplicationInterpreter.components?.(application)).toEqual([
    { name: "driver", replicas: 1, requirements: { resourceRequest: { cpu: "2", memory: "896Mi" } } },
    {
      name: "executor",
      replicas: 3,
      requirements: {
        nodeClaim: { nodeSelector: { disk: "ssd" } },
        resourceRequest: { cpu: "1", memory: "11Gi", "nvidia.com/gpu": "1" },
      },
    },
  ]);
});

test("an autoscaled application counts its initial executors", () => {
  const application = makeApplication({
    type: "Python",
    executor: { instances: 2 },
    dynamicAllocation: { enabled: true, initialExecutors: 1, minExecutors: 5 },
  });

  expect(sparkApplicationInterpreter.components?.(application).map(({ replicas }) => replicas)).toEqual([1, 5]);
});

const refused: Record<string, { spec: SparkApplication["spec"]; message: string }> = {
  "a missing language": { spec: {}, message: "reading spec.type of SparkApplication pi" },
  "memory without a unit": {
    spec: { type: "Java", driver: { memory: "1536" } },
    message: "reading spec.driver.memory of SparkApplication pi",
  },
  "an empty overhead": {
    spec: { type: "Java", executor: { memoryOverhead: "" } },
    message: "reading spec.executor.memoryOverhead of SparkApplication pi",
  },
  "an excessive number of executors": {
    spec: { type: "Java", executor: { instances: 3_000_000_000 } },
    message: "counting the replicas of executor in SparkApplication pi",
  },
};
for (const [what, { spec, message }] of Object.entries(refused)) {
  test(`${what} is rejected, and the message names the field`, () => {
    expect(() => sparkApplicationInterpreter.components?.(makeApplication(spec))).toThrow(message);
  });
}

test("shows the most severe state of several members, sums attempts and merges executors", () => {
  const items: StatusItem[] = [
    {
      clusterName: "oslo",
      status: {
        applicationState: { state: "COMPLETED" },
        executionAttempts: 1,
        executorState: { a: "COMPLETED", ["__proto__"]: "RUNNING" },
        terminationTime: "2024-01-02T00:00:00Z",
      },
    },
    {
      clusterName: "paris",
      status: {
        applicationState: { state: "FAILED", errorMessage: "no memory" },
        executionAttempts: 3,
        executorState: { b: "FAILED" },
        terminationTime: "2024-01-01T00:00:00Z",
      },
    },
    { clusterName: "rome" },
  ];

  const shown = sparkApplicationInterpreter.aggregateStatus?.(makeApplication({}), items);

  expect(shown?.status).toEqual({
    applicationState: { state: "FAILED", errorMessage: "no memory" },
    executionAttempts: 4,
    submissionAttempts: 0,
    executorState: JSON.parse('{"a":"COMPLETED","__proto__":"RUNNING","b":"FAILED"}'),
    terminationTime: "2024-01-02T00:00:00Z",
  });
  expect(shown && sparkApplicationInterpreter.aggregateStatus?.(shown, items)).toBe(shown);
});

test("rejects an unknown state and names the member", () => {
  const items: StatusItem[] = [
    { clusterName: "oslo", status: { applicationState: { state: "MELTED" } } },
    { clusterName: "paris" },
  ];

  expect(() => sparkApplicationInterpreter.aggregateStatus?.(makeApplication({}), items)).toThrow(
    "cluster oslo reports an unknown application state",
  );
});
