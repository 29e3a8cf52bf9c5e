/** Which workloads change, and which pods block an update. */
import { expect, test } from "vitest";
import type { Pod } from "@flotilla/kubernetes";
import type { UnitedDeployment } from "./uniteddeployment-kind.ts";
import { required } from "@flotilla/base";
import { DEPLOYMENT_REVISION_LABEL, PATCH_ANNOTATION } from "./uniteddeployment-names.ts";
import { planProvision, planUpdates } from "./provision.ts";
import type { ExistingSubset } from "./provision.ts";
import { SCHEDULABLE } from "./subset.ts";
import { templateOf } from "./subset-kinds.ts";

const REVISION = "ud-2";
const template = { metadata: { labels: { app: "ud" } }, spec: { containers: [{ name: "main", image: "web:1" }] } };

function make(type: "cloneSetTemplate" | "statefulSetTemplate", adaptive?: object): UnitedDeployment {
  const spec = {
    selector: { matchLabels: { app: "ud" } },
    template: { [type]: { metadata: {}, spec: { selector: {}, template } } },
    topology: { subsets: [{ name: "a" }], scheduleStrategy: adaptive ? { type: "Adaptive", adaptive } : undefined },
  };
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "UnitedDeployment",
    metadata: { name: "ud", namespace: "shop" },
    spec,
  } as UnitedDeployment;
}

const pod = (name: string, revision: string, ready: boolean): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { [DEPLOYMENT_REVISION_LABEL]: revision } },
  spec: { containers: [] },
  status: { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
});

function subset(rest: Partial<ExistingSubset> = {}): ExistingSubset {
  const workload = {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { name: "ud-a", annotations: { [PATCH_ANNOTATION]: "" } },
    spec: { updateStrategy: { rollingUpdate: { maxUnavailable: "20%" } } },
  };
  return {
    name: "a",
    specReplicas: 2,
    replicas: 2,
    readyReplicas: 1,
    pods: [],
    updatedRevision: REVISION,
    revision: REVISION,
    partition: 0,
    workload,
    ...rest,
  };
}

function changesOf(deployment: UnitedDeployment, existing: ExistingSubset, replicas = 2) {
  const numbers = (count: number) => new Map([["a", count]]);
  return planUpdates({
    deployment,
    template: required(templateOf(deployment), "a template"),
    subsets: new Map([["a", existing]]),
    replicas: numbers(replicas),
    partitions: numbers(0),
    revision: REVISION,
  });
}

test("creates missing subsets and deletes surplus ones, by name", () => {
  expect(planProvision(make("cloneSetTemplate"), ["z", "b"])).toEqual({ create: ["a"], remove: ["b", "z"] });
});

const differences: Record<string, [Partial<ExistingSubset>, number]> = {
  "another revision": [{ revision: "ud-1" }, 2],
  "another number of replicas": [{}, 3],
  "another partition": [{ partition: 1 }, 2],
};
for (const [what, [rest, replicas]] of Object.entries(differences)) {
  test(`${what} changes the workload`, () => {
    const [change] = changesOf(
      make("cloneSetTemplate"),
      subset({ pods: [pod("x", REVISION, true), pod("y", REVISION, true)], ...rest }),
      replicas,
    );

    expect(change?.changed?.spec).toMatchObject({ replicas, updateStrategy: { rollingUpdate: { partition: 0 } } });
  });
}

test("a UnitedDeployment does not change a correct workload, even while its pods are being updated", () => {
  expect(changesOf(make("cloneSetTemplate"), subset({ pods: [pod("x", "ud-1", true)] }))).toEqual([]);
});

test("pods without a node may all be unavailable during an update, and the template's own limit applies again afterwards", () => {
  const deployment = make("cloneSetTemplate", { reserveUnschedulablePods: true });
  const pods = [pod("x", "ud-1", true), pod("y", "ud-1", false)];
  const widened = { ...subset().workload, spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } } };

  const [during] = changesOf(
    deployment,
    subset({ pods, schedulability: { ...SCHEDULABLE, unschedulable: true, reservedPods: 1, updateTimeoutPods: 1 } }),
  );
  const [after] = changesOf(deployment, subset({ pods, workload: widened, schedulability: SCHEDULABLE }));

  expect(during?.changed?.spec.updateStrategy?.rollingUpdate).toEqual({ partition: 0, maxUnavailable: 2 });
  expect(after?.changed?.spec.updateStrategy?.rollingUpdate).toEqual({ partition: 0 });
});

test("deletes pods of a StatefulSet that would block the update", () => {
  const [change] = changesOf(
    make("statefulSetTemplate"),
    subset({
      pods: [pod("ud-a-0", "ud-1", true), pod("ud-a-1", "ud-1", false), pod("ud-a-2", REVISION, false)],
      replicas: 3,
    }),
  );

  expect(change?.stuck.map(({ metadata }) => metadata.name)).toEqual(["ud-a-1"]);
});
