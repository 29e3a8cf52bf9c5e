/** Runs the contract of interpreters for every known kind with replicas, on the example of its definition. */
import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { knownDefinitions, knownKinds } from "@flotilla/flotilla";
import { isServed } from "@flotilla/kubernetes";
import type { AnyDefinition } from "@flotilla/kubernetes";
import { describeInterpreter } from "./interpreter.ts";

/** The status of a copy whose pods all run. */
const running = (replicas: number) => ({
  observedGeneration: 1,
  replicas,
  readyReplicas: replicas,
  updatedReplicas: replicas,
  updatedReadyReplicas: replicas,
  expectedUpdatedReplicas: replicas,
  availableReplicas: replicas,
  updateRevision: "web-1",
});

const scalable = knownDefinitions.filter(
  ({ kind, interpreter }) =>
    interpreter?.replicas && interpreter.reviseReplicas && !(isServed(kind) && kind.workload?.runsToCompletion),
);

for (const { interpreter, example } of scalable) {
  if (!interpreter || !example) continue;
  const { spec } = example as { readonly spec?: object };
  const template = { ...example, spec: { ...spec, replicas: 4 } } as KubernetesObject;
  describeInterpreter(interpreter, { template, status: running });
}

const nameOf = ({ kind }: Pick<AnyDefinition, "kind">): string => `${kind.group}/${kind.kind}`;

test("the contract covers every served workload whose replicas are pods", () => {
  const names = scalable.filter(({ example }) => example).map(nameOf);

  expect(scalable.filter(({ kind, example }) => isServed(kind) && !example).map(nameOf)).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(["apps/Deployment", "apps.kruise.io/CloneSet"]));
});

test("only kinds that Flotilla does not serve have replicas without an example", () => {
  const others = knownKinds
    .filter(({ replicas, reviseReplicas }) => replicas && reviseReplicas)
    .map(({ group, kind }) => `${group}/${kind}`)
    .filter((name) => !knownDefinitions.some((definition) => definition.example && nameOf(definition) === name));

  expect(others.toSorted()).toEqual(["argoproj.io/Rollout", "ray.io/RayService"]);
});

const updated = knownDefinitions.filter(
  ({ kind }) => isServed(kind) && kind.workload && !kind.workload.runsToCompletion && !kind.workload.isScheduled,
);

test("every workload whose pods are updated declares how a release limits the update", () => {
  expect(updated.map(nameOf)).toContain("apps.kruise.io/CloneSet");
  expect(updated.filter(({ interpreter }) => !interpreter?.release).map(nameOf)).toEqual([]);
});

test("these kinds keep updated pods when their partition is raised", () => {
  const keeping = knownDefinitions.filter(({ interpreter }) => interpreter?.keepsUpdated);

  expect(keeping.map(nameOf).toSorted()).toEqual(
    ["DaemonSet", "SidecarSet", "StatefulSet", "UnitedDeployment"].map((kind) => `apps.kruise.io/${kind}`),
  );
});

test("these kinds change pods when they are created", () => {
  const changing = knownDefinitions.filter(({ interpreter }) => interpreter?.changesNewPods);

  expect(changing.map(nameOf).toSorted()).toEqual(
    ["PersistentPodState", "SidecarSet", "WorkloadSpread"].map((kind) => `apps.kruise.io/${kind}`),
  );
});

for (const { kind, interpreter, example } of updated)
  test(`a release gives a copy of ${nameOf({ kind })} a partition exactly if the kind has one`, () => {
    const limit = interpreter?.release?.limit;
    const limited = limit?.(example, { partition: 3, isPaused: false });

    expect(JSON.stringify(limited ?? {}).includes('"partition":3')).toBe(interpreter?.release?.hasPartition === true);
  });
