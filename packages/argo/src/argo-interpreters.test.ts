import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createInterpreter } from "@flotilla/flotilla";

const interpreter = createInterpreter();
const make = (kind: string, rest: object): KubernetesObject => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind,
  metadata: { name: "build", generation: 3 },
  ...rest,
});

test("a Workflow keeps the member's progress", async () => {
  const retained = await interpreter.retain(
    make("Workflow", { spec: { entrypoint: "main" } }),
    make("Workflow", { spec: { suspend: true }, status: { phase: "Running" } }),
  );

  expect(retained).toMatchObject({ spec: { entrypoint: "main", suspend: true }, status: { phase: "Running" } });
});

test("a Workflow lists each dependency once", async () => {
  const workflow = make("Workflow", {
    spec: {
      serviceAccountName: "runner",
      executor: { serviceAccountName: "runner" },
      volumeClaimTemplates: [{ metadata: { name: "scratch" } }, { metadata: { name: "scratch" } }],
    },
  });

  expect(await interpreter.dependencies(workflow)).toEqual([
    { apiVersion: "v1", kind: "ServiceAccount", name: "runner" },
    { apiVersion: "v1", kind: "PersistentVolumeClaim", name: "scratch" },
  ]);
});

test("a CronWorkflow shows the runs of all members and the latest schedule", async () => {
  const items = [
    {
      clusterName: "oslo",
      status: { active: [{ name: "a" }], succeeded: 1, lastScheduledTime: "2024-05-01T12:00:00Z" },
    },
    {
      clusterName: "paris",
      status: { active: [{ name: "b" }], succeeded: 2, lastScheduledTime: "2024-05-01T11:00:00Z" },
    },
  ];

  expect(await interpreter.aggregateStatus(make("CronWorkflow", {}), items)).toMatchObject({
    status: {
      active: [{ name: "a" }, { name: "b" }],
      succeeded: 3,
      failed: 0,
      lastScheduledTime: "2024-05-01T12:00:00Z",
    },
  });
});

const rollouts: Record<string, { status: object; want: string }> = {
  "is healthy when its controller reports that for the newest spec": {
    status: { phase: "Healthy", observedGeneration: "3" },
    want: "Healthy",
  },
  "is healthy while it waits for manual approval": {
    status: { phase: "Paused", observedGeneration: "3" },
    want: "Healthy",
  },
  "is unhealthy while it progresses": { status: { phase: "Progressing", observedGeneration: "3" }, want: "Unhealthy" },
  "is unhealthy while the newest spec is not observed": {
    status: { phase: "Healthy", observedGeneration: "2" },
    want: "Unhealthy",
  },
};
for (const [behaviour, { status, want }] of Object.entries(rollouts)) {
  test(`a Rollout ${behaviour}`, async () => {
    expect(await interpreter.health(make("Rollout", { status }))).toBe(want);
  });
}

test("a Rollout sums its members and shows the worst phase", async () => {
  const items = [
    { clusterName: "oslo", status: { replicas: 3, phase: "Healthy", message: "" } },
    { clusterName: "paris", status: { replicas: 2, phase: "Degraded", message: "timed out" } },
  ];

  expect(await interpreter.aggregateStatus(make("Rollout", {}), items)).toMatchObject({
    status: { replicas: 5, phase: "Degraded", message: "timed out" },
  });
});
