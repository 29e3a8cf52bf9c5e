import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StatusItem } from "@flotilla/kubernetes";
import { rayClusterInterpreter } from "./raycluster.ts";
import { rayJobInterpreter } from "./rayjob.ts";
import { rayServiceInterpreter } from "./rayservice.ts";

const pod = (cpu: string, secret?: string) => ({
  spec: {
    containers: [
      {
        name: "ray",
        resources: { requests: { cpu } },
        envFrom: secret ? [{ secretRef: { name: secret } }] : undefined,
      },
    ],
  },
});
const clusterSpec = {
  headGroupSpec: { template: pod("1", "head") },
  workerGroupSpecs: [
    { groupName: "small", replicas: 2, template: pod("2", "worker") },
    { template: pod("4", "worker") },
  ],
};
const makeRay = (kind: string, spec: object) => ({
  apiVersion: "ray.io/v1",
  kind,
  metadata: { name: "ray", namespace: "ml" },
  spec,
});

test("a cluster is a head and its worker groups; a group without a name is named by its index", () => {
  expect(rayClusterInterpreter.components?.(makeRay("RayCluster", clusterSpec))).toEqual([
    { name: "ray-head", replicas: 1, requirements: { resourceRequest: { cpu: "1" } } },
    { name: "small", replicas: 2, requirements: { resourceRequest: { cpu: "2" } } },
    { name: "worker-2", replicas: 0, requirements: { resourceRequest: { cpu: "4" } } },
  ]);
});

test("pod template references are dependencies of all three kinds, without duplicates", () => {
  const submitterPodTemplate = pod("1", "submitter");

  const namesOf = (dependencies: { name?: string }[] | undefined): (string | undefined)[] | undefined =>
    dependencies?.map(({ name }) => name);

  expect(namesOf(rayClusterInterpreter.dependencies?.(makeRay("RayCluster", clusterSpec)))).toEqual(["head", "worker"]);
  expect(
    namesOf(rayJobInterpreter.dependencies?.(makeRay("RayJob", { rayClusterSpec: clusterSpec, submitterPodTemplate }))),
  ).toEqual(["head", "submitter", "worker"]);
  expect(
    namesOf(rayServiceInterpreter.dependencies?.(makeRay("RayService", { rayClusterConfig: clusterSpec }))),
  ).toEqual(["head", "worker"]);
});

const amounts: Record<string, { members: string[]; want: string }> = {
  "keep the format of the first member": { members: ["1Gi", "1Gi"], want: "2Gi" },
  "lose binary suffixes when the sum is no longer a binary multiple": {
    members: ["3072Mi", "3G", "3G"],
    want: "9221225472",
  },
  "are never written with exponents": { members: ["1e3", "1"], want: "1001" },
  "skip members that report nothing": { members: ["", "2G"], want: "2G" },
};
for (const [behaviour, { members, want }] of Object.entries(amounts)) {
  test(`amounts of memory ${behaviour}`, () => {
    const items = [
      ...members.map((desiredMemory, index) => ({ clusterName: `member${index}`, status: { desiredMemory } })),
      { clusterName: "silent" },
    ];

    const shown = rayClusterInterpreter.aggregateStatus?.(makeRay("RayCluster", clusterSpec), items);

    expect(shown?.status?.["desiredMemory"]).toBe(want);
  });
}

test("rejects an invalid device count and names the field", () => {
  const items = [{ clusterName: "oslo", status: { desiredGPU: "many" } }, { clusterName: "paris" }];

  expect(() => rayClusterInterpreter.aggregateStatus?.(makeRay("RayCluster", clusterSpec), items)).toThrow(
    "a member's desiredGPU is not a number",
  );
});

test("an aggregated status does not change the spec, and aggregating again changes nothing", () => {
  const items = ["oslo", "paris"].map((clusterName) => ({
    clusterName,
    status: { readyWorkerReplicas: 2, desiredCPU: "500m", state: "ready", endpoints: { client: clusterName } },
  }));

  const shown = rayClusterInterpreter.aggregateStatus?.(makeRay("RayCluster", clusterSpec), items);

  expect(shown?.spec).toBe(clusterSpec);
  expect(shown?.status).toMatchObject({
    readyWorkerReplicas: 4,
    desiredCPU: "1",
    state: "ready",
    endpoints: { client: "oslo" },
  });
  expect(shown && rayClusterInterpreter.aggregateStatus?.(shown, items)).toBe(shown);
});

test("shows the most severe states of jobs on several members", () => {
  const items: StatusItem[] = [
    { clusterName: "oslo", status: { jobDeploymentStatus: "Failed", reason: "AppFailed", jobStatus: "FAILED" } },
    { clusterName: "paris", status: { jobDeploymentStatus: "Complete", message: "done", jobStatus: "SUCCEEDED" } },
  ];

  const shown = rayJobInterpreter.aggregateStatus?.(makeRay("RayJob", {}), items);

  expect(shown?.status).toEqual({ jobDeploymentStatus: "Failed", reason: "AppFailed", jobStatus: "FAILED" });
});

test("shows the most severe state of applications with the same name", () => {
  const serving = (clusterName: string, status: string) => ({
    clusterName,
    status: { activeServiceStatus: { rayClusterName: clusterName, applicationStatuses: { chat: { status } } } },
  });

  const shown = rayServiceInterpreter.aggregateStatus?.(makeRay("RayService", {}), [
    serving("oslo", "RUNNING"),
    serving("paris", "UNHEALTHY"),
  ]);

  expect(shown?.status?.["activeServiceStatus"]).toEqual({
    rayClusterName: "oslo",
    applicationStatuses: { chat: { status: "UNHEALTHY" } },
  });
});

test("a service counts its head and all workers, each as large as the largest", () => {
  expect(rayServiceInterpreter.replicas?.(makeRay("RayService", { rayClusterConfig: clusterSpec }))).toEqual({
    replicas: 3,
    requirements: { resourceRequest: { cpu: "4" } },
  });
});

const revisedGroups = (current: number[], replicas: number): unknown[] => {
  const service = makeRay("RayService", {
    rayClusterConfig: { workerGroupSpecs: current.map((each) => ({ replicas: each })) },
  });
  const revised = rayServiceInterpreter.reviseReplicas?.(service, replicas) as {
    spec: { rayClusterConfig: { workerGroupSpecs: { replicas: unknown }[] } };
  };
  return revised.spec.rayClusterConfig.workerGroupSpecs.map((group) => group.replicas);
};

const revisions: Record<string, { current: number[]; replicas: number; want: number[] }> = {
  "keep their proportions": { current: [4, 2], replicas: 13, want: [8, 4] },
  "share evenly when all are empty": { current: [0, 0, 0], replicas: 6, want: [2, 2, 1] },
  "are empty when only the head is left": { current: [2, 10], replicas: 1, want: [0, 0] },
  "are rounded up only while workers are left": { current: [4, 3, 4, 4], replicas: 3, want: [1, 0, 1, 0] },
  "at the end get zero rather than a negative number": { current: [1, 1, 1, 1], replicas: 3, want: [1, 1, 0, 0] },
};
for (const [behaviour, { current, replicas, want }] of Object.entries(revisions)) {
  test(`worker groups ${behaviour}`, () => {
    expect(revisedGroups(current, replicas)).toEqual(want);
  });
}

test("worker groups add up exactly, and none is negative", () => {
  const groups = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(groups, fc.integer({ min: 1, max: 500 }), (current, replicas) => {
      const revised = revisedGroups(current, replicas) as number[];

      expect(revised.reduce((sum, each) => sum + each, 0)).toBe(replicas - 1);
      expect(Math.min(...revised)).toBeGreaterThanOrEqual(0);
    }),
    { seed: 42, numRuns: 300 },
  );
});
