/** The replicas of each subset, and when an adaptive deployment is reconciled again. */
import { expect, test } from "vitest";
import { formatTime } from "@flotilla/base";
import type { Pod } from "@flotilla/kubernetes";
import { DEPLOYMENT_REVISION_LABEL } from "./uniteddeployment-names.ts";
import { findSubsets, planRequeueMs, planSubsets } from "./plan-subsets.ts";
import type { ExistingSubset } from "./provision.ts";
import type { UnitedDeployment } from "./uniteddeployment-kind.ts";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");
const REVISIONS = { current: "ud-1", updated: "ud-2" };

const make = (scheduleStrategy?: object, subsets: object[] = [{ name: "a" }, { name: "b" }]): UnitedDeployment =>
  ({
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "UnitedDeployment",
    metadata: { name: "ud", namespace: "shop" },
    spec: { replicas: 4, topology: { subsets, scheduleStrategy } },
  }) as unknown as UnitedDeployment;

const adaptive = (rest: object = {}): object => ({
  type: "Adaptive",
  adaptive: { rescheduleCriticalSeconds: 30, unschedulableDuration: 300, ...rest },
});

const pending = (ageMs: number): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "pod",
    labels: { [DEPLOYMENT_REVISION_LABEL]: REVISIONS.updated },
    creationTimestamp: formatTime(NOW_MS - ageMs),
  },
  spec: { containers: [] },
  status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
});

const subset = (name: string, rest: Partial<ExistingSubset> = {}): [string, ExistingSubset] => [
  name,
  {
    name,
    specReplicas: 2,
    replicas: 2,
    readyReplicas: 2,
    pods: [],
    updatedRevision: REVISIONS.updated,
    revision: REVISIONS.updated,
    workload: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", metadata: { name: `ud-${name}` }, spec: {} },
    ...rest,
  },
];

const find = (deployment: UnitedDeployment, ...subsets: [string, ExistingSubset][]) =>
  findSubsets(deployment, new Map(subsets), REVISIONS, NOW_MS);

test("records since when the deployment has been updating", () => {
  const { deployment } = find(make());

  expect(deployment.status?.conditions).toEqual([
    {
      type: "UnitedDeploymentUpdated",
      status: "False",
      reason: "UnitedDeploymentRevisionUpdating",
      message: "updating to revision ud-2",
      lastTransitionTime: "2026-01-01T00:10:00Z",
    },
  ]);
});

test("a pod that finds no node moves its replica to another subset", () => {
  const found = find(make(adaptive()), subset("a", { readyReplicas: 1, pods: [pending(31_000)] }), subset("b"));
  const plan = planSubsets(found, NOW_MS);

  expect(plan).toMatchObject({
    replicas: new Map([
      ["a", 1],
      ["b", 3],
    ]),
  });
});

test("explains why replicas cannot be allocated", () => {
  const plan = planSubsets(find(make(undefined, [{ name: "a", replicas: 1 }])), NOW_MS);

  expect(plan).toHaveProperty("problem");
});

test("labels pods of an unschedulable subset as reserved", () => {
  const pod = pending(31_000);
  const { findings } = find(
    make(adaptive({ reserveUnschedulablePods: true })),
    subset("a", { readyReplicas: 1, pods: [pod] }),
  );

  expect(findings.get("a")?.relabel).toEqual([{ pod, reserved: true }]);
});

const requeues: Record<string, { found: ReturnType<typeof find>; createsSubsets?: boolean; want: number | undefined }> =
  {
    "does not requeue a deployment that is not adaptive": {
      found: find(make(), subset("a", { readyReplicas: 0 })),
      createsSubsets: true,
      want: undefined,
    },
    "does not requeue an adaptive deployment whose pods are ready": {
      found: find(make(adaptive()), subset("a")),
      want: undefined,
    },
    "requeues after the scheduling timeout when it creates subsets": {
      found: find(make(adaptive())),
      createsSubsets: true,
      want: 30_001,
    },
    "requeues just after a pending pod times out": {
      found: find(make(adaptive()), subset("a", { readyReplicas: 1, pods: [pending(20_000)] })),
      want: 10_001,
    },
    "requeues at most once a second": {
      found: find(make(adaptive({ rescheduleCriticalSeconds: 0 })), subset("a", { readyReplicas: 1 })),
      want: 1_001,
    },
  };
for (const [name, { found, createsSubsets = false, want }] of Object.entries(requeues)) {
  test(name, () => {
    expect(planRequeueMs(found, { createsSubsets })).toBe(want);
  });
}
