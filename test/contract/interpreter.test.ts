import { expect, test } from "vitest";
import { knownKinds } from "@flotilla/flotilla";
import { makeCloneSet, makeDeployment } from "@flotilla/testing/builders.ts";
import { describeInterpreter } from "./interpreter.ts";
import type { InterpreterSample } from "./interpreter.ts";

const running = (n: number) => ({
  observedGeneration: 1,
  replicas: n,
  readyReplicas: n,
  updatedReplicas: n,
  availableReplicas: n,
});
const workload = (apiVersion: string, kind: string): InterpreterSample["template"] => ({
  ...makeDeployment("shop/web").replicas(4).build(),
  apiVersion,
  kind,
});

/** A new interpreter of replicas whose status counts them adds a line here and is covered by the whole suite. */
const samples: Record<string, InterpreterSample> = {
  "apps/Deployment": { template: makeDeployment("shop/web").replicas(4).build(), status: running },
  "apps/ReplicaSet": { template: workload("apps/v1", "ReplicaSet"), status: running },
  "apps/StatefulSet": { template: workload("apps/v1", "StatefulSet"), status: running },
  "apps.kruise.io/CloneSet": {
    template: makeCloneSet("shop/web").replicas(4).build(),
    status: (n) => ({ ...running(n), updatedReadyReplicas: n, expectedUpdatedReplicas: n, updateRevision: "web-1" }),
  },
  "apps.kruise.io/StatefulSet": { template: workload("apps.kruise.io/v1beta1", "StatefulSet"), status: running },
  "apps.kruise.io/UnitedDeployment": {
    template: workload("apps.kruise.io/v1alpha1", "UnitedDeployment"),
    status: running,
  },
};
/** Kinds that count something other than the replicas of their pods, or nothing. */
const OTHERWISE = new Set([
  "batch/Job",
  "/Pod",
  "apps.kruise.io/BroadcastJob",
  "apps.kruise.io/SidecarSet",
  "argoproj.io/Workflow",
  "argoproj.io/Rollout",
  "flink.apache.org/FlinkDeployment",
  "kubeflow.org/Notebook",
  "ray.io/RayService",
]);

for (const kind of knownKinds) {
  const sample = samples[`${kind.group}/${kind.kind}`];
  if (sample) describeInterpreter(kind, sample);
}

test("the contract covers every known kind that runs replicas of a pod template", () => {
  const counting = knownKinds.filter(({ replicas }) => replicas).map(({ group, kind }) => `${group}/${kind}`);

  expect(counting.filter((name) => !OTHERWISE.has(name)).toSorted()).toEqual(Object.keys(samples).toSorted());
});
