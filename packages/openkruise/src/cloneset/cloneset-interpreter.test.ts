import { expect, test } from "vitest";
import { makeCloneSet } from "@flotilla/testing/builders.ts";
import { cloneSetInterpreter } from "./cloneset-interpreter.ts";

const running = (status: Record<string, number>, partition = 0) =>
  makeCloneSet("shop/web")
    .replicas(4)
    .with((cloneSet) => {
      cloneSet.metadata.generation = 3;
      if (partition > 0) cloneSet.spec.updateStrategy = { rollingUpdate: { partition } } as never;
      cloneSet.status = { observedGeneration: 3, ...status } as never;
    })
    .build();

const health: Record<string, { status: Record<string, number>; partition?: number; want: boolean }> = {
  "is healthy when all replicas are updated and available": {
    status: { updatedReplicas: 4, availableReplicas: 4, expectedUpdatedReplicas: 4 },
    want: true,
  },
  "is healthy when a partitioned rollout has reached its stage": {
    status: { updatedReplicas: 2, availableReplicas: 4, expectedUpdatedReplicas: 2 },
    partition: 2,
    want: true,
  },
  "is unhealthy while pods are missing": {
    status: { updatedReplicas: 4, availableReplicas: 3, expectedUpdatedReplicas: 4 },
    want: false,
  },
  "is unhealthy while its controller has not observed the newest spec": {
    status: { updatedReplicas: 4, availableReplicas: 4, observedGeneration: 2 },
    want: false,
  },
};
for (const [behaviour, { status, partition, want }] of Object.entries(health)) {
  test(`a CloneSet ${behaviour}`, () => {
    expect(cloneSetInterpreter.isHealthy?.(running(status, partition))).toBe(want);
  });
}

test("a CloneSet reflects its counters and revisions together with their generations", () => {
  const cloneSet = running({ replicas: 4, readyReplicas: 4 });
  cloneSet.metadata.annotations = { "resourcetemplate.karmada.io/generation": "2" };

  expect(cloneSetInterpreter.reflectStatus?.(cloneSet)).toEqual({
    replicas: 4,
    readyReplicas: 4,
    observedGeneration: 3,
    generation: 3,
    resourceTemplateGeneration: 2,
  });
});

test("a CloneSet in v1alpha1 is divided and aggregated like one in v1beta1", () => {
  const cloneSet = { ...makeCloneSet("shop/web").replicas(10).build(), apiVersion: "apps.kruise.io/v1alpha1" };

  expect(cloneSetInterpreter.replicas?.(cloneSet)).toEqual({ replicas: 10 });
  expect(cloneSetInterpreter.reviseReplicas?.(cloneSet, 4)).toMatchObject({
    apiVersion: "apps.kruise.io/v1alpha1",
    spec: { replicas: 4 },
  });
});
