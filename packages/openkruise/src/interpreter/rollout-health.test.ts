import { defined } from "@flotilla/base";
import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createInterpreter } from "@flotilla/flotilla";

const interpreter = createInterpreter();
const make = (kind: string, spec: object, status?: object): KubernetesObject =>
  ({
    apiVersion: "apps.kruise.io/v1beta1",
    kind,
    metadata: { name: "web", generation: 2 },
    spec,
    ...defined({ status: status ? { observedGeneration: 2, ...status } : undefined }),
  }) as unknown as KubernetesObject;

const stages: Record<string, { object: KubernetesObject; healthy: boolean }> = {
  "a CloneSet with partition 100% is healthy while its pods run": {
    object: make(
      "CloneSet",
      { replicas: 4, updateStrategy: { rollingUpdate: { partition: "100%" } } },
      { updatedReplicas: 0, availableReplicas: 4 },
    ),
    healthy: true,
  },
  "a CloneSet is unhealthy before it reaches its stage": {
    object: make(
      "CloneSet",
      { replicas: 4, updateStrategy: { rollingUpdate: { partition: 1 } } },
      { updatedReplicas: 2, availableReplicas: 4 },
    ),
    healthy: false,
  },
  "an Advanced StatefulSet is healthy at its stage": {
    object: make(
      "StatefulSet",
      { replicas: 4, updateStrategy: { rollingUpdate: { partition: 3 } } },
      { updatedReplicas: 1, availableReplicas: 4 },
    ),
    healthy: true,
  },
  "an Advanced StatefulSet is unhealthy while a held-back pod is missing": {
    object: make(
      "StatefulSet",
      { replicas: 4, updateStrategy: { rollingUpdate: { partition: 3 } } },
      { updatedReplicas: 1, availableReplicas: 3 },
    ),
    healthy: false,
  },
  "an Advanced DaemonSet is healthy at its stage": {
    object: make(
      "DaemonSet",
      { updateStrategy: { rollingUpdate: { partition: "50%" } } },
      { desiredNumberScheduled: 5, updatedNumberScheduled: 3, numberAvailable: 5 },
    ),
    healthy: true,
  },
  "an Advanced DaemonSet is unhealthy before it reaches its stage": {
    object: make(
      "DaemonSet",
      { updateStrategy: { rollingUpdate: { partition: "50%" } } },
      { desiredNumberScheduled: 5, updatedNumberScheduled: 2, numberAvailable: 5 },
    ),
    healthy: false,
  },
  "a SidecarSet is healthy at its stage": {
    object: make("SidecarSet", { updateStrategy: { partition: "90%" } }, { matchedPods: 10, updatedPods: 1 }),
    healthy: true,
  },
  "a SidecarSet is unhealthy before it reaches its stage": {
    object: make("SidecarSet", { updateStrategy: { partition: 3 } }, { matchedPods: 10, updatedPods: 6 }),
    healthy: false,
  },
  "a UnitedDeployment is healthy when its pods are updated and ready": {
    object: make("UnitedDeployment", { replicas: 4 }, { replicas: 4, updatedReplicas: 4, readyReplicas: 4 }),
    healthy: true,
  },
  "a UnitedDeployment is unhealthy while pods are not ready": {
    object: make("UnitedDeployment", { replicas: 4 }, { replicas: 4, updatedReplicas: 4, readyReplicas: 3 }),
    healthy: false,
  },
  "a UnitedDeployment is healthy at its stage": {
    object: make(
      "UnitedDeployment",
      { replicas: 4, updateStrategy: { manualUpdate: { partitions: { a: 5, b: 1 } } } },
      { updatedReplicas: 1, readyReplicas: 4, subsetReplicas: { a: 2, b: 2 } },
    ),
    healthy: true,
  },
  "a UnitedDeployment without a status is unhealthy": {
    object: make("UnitedDeployment", { replicas: 4 }),
    healthy: false,
  },
};
for (const [behaviour, { object, healthy }] of Object.entries(stages)) {
  test(behaviour, async () => {
    expect(await interpreter.health(object)).toBe(healthy ? "Healthy" : "Unhealthy");
  });
}

test("a UnitedDeployment shows the pods of each subset summed over all members", async () => {
  const items = [
    { a: 2, b: 1 },
    { a: 1, b: 3 },
  ].map((subsetReplicas, index) => ({
    clusterName: `m${index}`,
    status: { replicas: 4, updatedReadyReplicas: 2, subsetReplicas } as JsonObject,
  }));

  expect(await interpreter.aggregateStatus(make("UnitedDeployment", { replicas: 8 }), items)).toMatchObject({
    status: { replicas: 8, updatedReadyReplicas: 4, subsetReplicas: { a: 3, b: 4 } },
  });
});

test("a UnitedDeployment also sums subset statuses, and returns the identical object when nothing changed", async () => {
  const status = (replicas: number): JsonObject => ({
    replicas,
    subsetStatuses: [{ name: "a", replicas, readyReplicas: 1, conditions: [] }],
  });
  const items = [2, 3].map((replicas, index) => ({ clusterName: `m${index}`, status: status(replicas) }));

  const summed = await interpreter.aggregateStatus(make("UnitedDeployment", { replicas: 5 }), items);

  expect(summed).toMatchObject({
    status: { replicas: 5, subsetStatuses: [{ name: "a", replicas: 5, readyReplicas: 2 }] },
  });
  const {
    availableReplicas: _a,
    unavailableReplicas: _u,
    ...stored
  } = (summed as unknown as { status: JsonObject }).status;
  const template = { ...summed, status: stored } as unknown as KubernetesObject;
  expect(await interpreter.aggregateStatus(template, items)).toBe(template);
});

test("a SidecarSet that matches no pods reports zero", async () => {
  const items = [{ clusterName: "a", status: { matchedPods: 0, updatedPods: 0, readyPods: 0 } }];

  const summed = await interpreter.aggregateStatus(make("SidecarSet", {}), items);

  expect(summed).toMatchObject({ status: { matchedPods: 0, updatedPods: 0, readyPods: 0 } });
});

test("a SidecarSet sums counters of newer members only if a member reports them", async () => {
  const sidecarSet = make("SidecarSet", {});

  expect(await interpreter.reflectStatus(make("SidecarSet", {}, { matchedPods: 3, updatedReadyPods: 2 }))).toEqual({
    matchedPods: 3,
    updatedPods: 0,
    readyPods: 0,
    updatedReadyPods: 2,
  });
  expect(
    await interpreter.aggregateStatus(sidecarSet, [
      { clusterName: "a", status: { matchedPods: 3, updatedReadyPods: 2 } },
    ]),
  ).toMatchObject({ status: { matchedPods: 3, updatedReadyPods: 2 } });
});
