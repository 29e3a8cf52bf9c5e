import { expect, test } from "vitest";
import type { StatusItem } from "@flotilla/kubernetes";
import { flinkDeploymentInterpreter } from "./flinkdeployment.ts";

type FlinkDeployment = Parameters<NonNullable<typeof flinkDeploymentInterpreter.components>>[0];
const makeDeployment = (spec: FlinkDeployment["spec"], status?: FlinkDeployment["status"]): FlinkDeployment => ({
  apiVersion: "flink.apache.org/v1beta1",
  kind: "FlinkDeployment",
  metadata: { name: "wordcount", namespace: "jobs" },
  spec,
  status,
});

const taskManagers: Record<string, { spec: FlinkDeployment["spec"]; want: number }> = {
  "are as many as requested": { spec: { taskManager: { replicas: 4 }, job: { parallelism: 9 } }, want: 4 },
  "are as many as the slots of the job require": {
    spec: { job: { parallelism: 5 }, flinkConfiguration: { "taskmanager.numberOfTaskSlots": "2" } },
    want: 3,
  },
  "default to one when slots per task manager are not set": { spec: { job: { parallelism: 5 } }, want: 1 },
  "default to one when they have no slots": {
    spec: { job: { parallelism: 5 }, flinkConfiguration: { "taskmanager.numberOfTaskSlots": "0" } },
    want: 1,
  },
};
for (const [behaviour, { spec, want }] of Object.entries(taskManagers)) {
  test(`task managers ${behaviour}`, () => {
    const components = flinkDeploymentInterpreter.components?.(makeDeployment(spec));

    expect(components?.map(({ name, replicas }) => [name, replicas])).toEqual([
      ["jobmanager", 1],
      ["taskmanager", want],
    ]);
  });
}

test("as a single kind of pod, every pod counts as the larger of the two", () => {
  const deployment = makeDeployment({
    jobManager: { resource: { cpu: 0.5, memory: "2Gi" } },
    taskManager: { replicas: 2, resource: { cpu: 2, memory: "512Mi" } },
    podTemplate: { spec: { priorityClassName: "high" } },
  });

  expect(flinkDeploymentInterpreter.replicas?.(deployment)).toEqual({
    replicas: 3,
    requirements: { resourceRequest: { cpu: "2", memory: "2Gi" }, priorityClassName: "high", namespace: "jobs" },
  });
});

test("rejects memory in Flink's own notation, and the message names the field", () => {
  const deployment = makeDeployment({ taskManager: { resource: { memory: "1g" } } });

  expect(() => flinkDeploymentInterpreter.components?.(deployment)).toThrow(
    "reading spec.taskManager.resource.memory of FlinkDeployment wordcount",
  );
});

test("a job that cannot pull its image is not moved; a job that is merely starting is not healthy", () => {
  const starting = (error: string): FlinkDeployment =>
    makeDeployment({}, { jobStatus: { state: "RECONCILING" }, error });

  expect(flinkDeploymentInterpreter.isHealthy?.(starting("pod x: ImagePullBackOff"))).toBe(true);
  expect(flinkDeploymentInterpreter.isHealthy?.(starting(""))).toBe(false);
});

test("shows the status of the last member that reports one, and aggregating again changes nothing", () => {
  const items: StatusItem[] = [
    { clusterName: "oslo", status: { lifecycleState: "STABLE", error: "old" } },
    { clusterName: "paris", status: { lifecycleState: "FAILED", observedGeneration: 2 } },
    { clusterName: "rome" },
  ];

  const shown = flinkDeploymentInterpreter.aggregateStatus?.(makeDeployment({}, { error: "older" }), items);

  expect(shown?.status).toEqual({ lifecycleState: "FAILED", observedGeneration: 2 });
  expect(shown && flinkDeploymentInterpreter.aggregateStatus?.(shown, items)).toBe(shown);
});
