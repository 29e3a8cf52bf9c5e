import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { containerRecreateRequestInterpreter } from "../containerrecreaterequest/containerrecreaterequest-interpreter.ts";
import { ephemeralJobInterpreter } from "../ephemeraljob/ephemeraljob-interpreter.ts";
import { imageListPullJobInterpreter } from "../imagelistpulljob/imagelistpulljob-interpreter.ts";
import { imagePullJobInterpreter } from "../imagepulljob/imagepulljob-interpreter.ts";

const object = (rest: object = {}): KubernetesObject => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "Job",
  metadata: { name: "job", namespace: "shop", generation: 1 },
  ...rest,
});
const items = (...statuses: (JsonObject | undefined)[]): StatusItem[] =>
  statuses.map((status, index) => ({ clusterName: ["oslo", "paris", "rome"][index] ?? "", status }));

/** The same items must yield the identical template, so that a converged fleet writes nothing. */
function aggregate(rules: KindInterpreter, statuses: StatusItem[]): unknown {
  const once = rules.aggregateStatus?.(object(), statuses) ?? object();

  expect(rules.aggregateStatus?.(once, statuses)).toBe(once);
  return (once as { status?: unknown }).status;
}

const pulls = imagePullJobInterpreter as KindInterpreter;
const listPulls = imageListPullJobInterpreter as KindInterpreter;
const ephemeral = ephemeralJobInterpreter as KindInterpreter;
const recreate = containerRecreateRequestInterpreter as KindInterpreter;

test("an ImagePullJob counts the nodes of all members and is running until the last one is complete", () => {
  const oslo = {
    startTime: "2024-05-01T12:00:05Z",
    completionTime: "2024-05-01T12:01:00Z",
    desired: 3,
    active: 0,
    succeeded: 2,
    failed: 1,
    failedNodes: ["node-2"],
    message: "job has completed",
  };
  const paris = {
    startTime: "2024-05-01T12:00:00Z",
    desired: 5,
    active: 2,
    succeeded: 1,
    failed: 1,
    failedNodes: ["node-2"],
    message: "job is running, progress 40.0%",
  };

  expect(aggregate(pulls, items(oslo, paris))).toEqual({
    startTime: "2024-05-01T12:00:00Z",
    desired: 8,
    active: 2,
    succeeded: 3,
    failed: 2,
    failedNodes: ["oslo/node-2", "paris/node-2"],
    message: "job is running, progress 62.5%",
  });
});

test("an ImagePullJob ends with its last member, and reports a member that timed out", () => {
  const oslo = { completionTime: "2024-05-01T12:01:00Z", desired: 1, succeeded: 1, message: "job has completed" };
  const paris = {
    completionTime: "2024-05-01T12:09:00Z",
    desired: 1,
    failed: 1,
    message: "job exceeds activeDeadlineSeconds",
  };

  expect(aggregate(pulls, items(oslo, paris))).toMatchObject({
    completionTime: "2024-05-01T12:09:00Z",
    message: "job exceeds activeDeadlineSeconds",
  });
  expect(aggregate(pulls, items(oslo))).toMatchObject({ message: "job has completed" });
});

test("limits the list of failed nodes in a large fleet", () => {
  const failedNodes = Array.from({ length: 5000 }, (_, index) => `node-${index}`);

  const status = aggregate(pulls, items({ desired: 5000, failed: 5000, failedNodes })) as JsonObject;

  expect(status["failed"]).toBe(5000);
  expect(status["failedNodes"]).toHaveLength(100);
});

test("image pull jobs depend on their pull secrets", () => {
  const job = object({ spec: { pullSecrets: ["registry", "registry", "mirror"] } });

  expect(pulls.dependencies?.(job).map(({ kind, name }) => `${kind}/${name}`)).toEqual([
    "Secret/mirror",
    "Secret/registry",
  ]);
  expect(listPulls.dependencies?.(job)).toHaveLength(2);
});

test("an ImageListPullJob lists the failed images with their clusters", () => {
  const oslo = { desired: 2, active: 0, completed: 2, succeeded: 2, completionTime: "2024-05-01T12:01:00Z" };
  const paris = {
    desired: 2,
    active: 1,
    completed: 1,
    succeeded: 0,
    failedImageStatuses: [{ imagePullJob: "job-x7", name: "nginx:1", message: "look" }],
  };

  expect(aggregate(listPulls, items(oslo, paris))).toEqual({
    desired: 4,
    active: 1,
    completed: 3,
    succeeded: 2,
    failedImageStatuses: [{ imagePullJob: "paris/job-x7", name: "nginx:1", message: "look" }],
  });
});

const phases: Record<string, { members: JsonObject[]; want: string }> = {
  "is running while any member is": {
    members: [
      { phase: "Succeeded", match: 1 },
      { phase: "Running", match: 1 },
    ],
    want: "Running",
  },
  "has failed when any member has": {
    members: [
      { phase: "Running", match: 1 },
      { phase: "Failed", match: 1 },
    ],
    want: "Failed",
  },
  "does not wait for a member that has none of the pods": {
    members: [
      { phase: "Succeeded", match: 1 },
      { phase: "Waiting", match: 0 },
    ],
    want: "Succeeded",
  },
  "waits while no member has any of the pods": { members: [{ phase: "Waiting", match: 0 }], want: "Waiting" },
};
for (const [behaviour, { members, want }] of Object.entries(phases)) {
  test(`an EphemeralJob ${behaviour}`, () => {
    expect(aggregate(ephemeral, items(...members))).toMatchObject({
      phase: want,
      match: members.filter(({ match }) => match === 1).length,
    });
  });
}

test("an EphemeralJob depends on objects that its containers reference", () => {
  const job = object({
    spec: { template: { ephemeralContainers: [{ name: "debug", envFrom: [{ secretRef: { name: "token" } }] }] } },
  });

  expect(ephemeral.dependencies?.(job)).toEqual([
    { apiVersion: "v1", kind: "Secret", namespace: "shop", name: "token" },
  ]);
});

test("a ContainerRecreateRequest keeps the spec that the member completed", () => {
  const desired = object({ spec: { podName: "web-0", containers: [{ name: "app" }] } });
  const observed = object({
    spec: {
      podName: "web-0",
      containers: [{ name: "app", statusContext: { restartCount: 0 } }],
      strategy: { failurePolicy: "Fail" },
    },
  });

  expect(recreate.retain?.(desired, observed)).toEqual(observed);
});

test("a ContainerRecreateRequest shows the status of the member that has the pod", () => {
  const done = {
    phase: "Completed",
    completionTime: "2024-05-01T12:01:00Z",
    containerRecreateStates: [{ name: "app", phase: "Succeeded" }],
  };

  expect(aggregate(recreate, items(undefined, done))).toEqual(done);
});

test("a ContainerRecreateRequest on several members shows the slowest one", () => {
  const done = {
    phase: "Completed",
    completionTime: "2024-05-01T12:01:00Z",
    containerRecreateStates: [{ name: "app", phase: "Succeeded" }],
  };
  const busy = { phase: "Recreating", containerRecreateStates: [{ name: "app", phase: "Recreating" }] };

  expect(aggregate(recreate, items(done, busy))).toEqual({
    phase: "Recreating",
    containerRecreateStates: [
      { name: "oslo/app", phase: "Succeeded" },
      { name: "paris/app", phase: "Recreating" },
    ],
  });
});

const health: Record<string, { rules: KindInterpreter; status?: JsonObject; want: boolean }> = {
  "an ImagePullJob without failed nodes": {
    rules: pulls,
    status: { desired: 3, active: 1, succeeded: 2, failed: 0 },
    want: true,
  },
  "an ImagePullJob with a failed node": { rules: pulls, status: { desired: 3, failed: 1 }, want: false },
  "an ImagePullJob that no controller has observed": { rules: pulls, want: false },
  "an ImageListPullJob without failed images": { rules: listPulls, status: { desired: 2, active: 1 }, want: true },
  "an ImageListPullJob with a failed image": {
    rules: listPulls,
    status: { failedImageStatuses: [{ name: "nginx:1" }] },
    want: false,
  },
  "a running EphemeralJob": { rules: ephemeral, status: { phase: "Running", failed: 0 }, want: true },
  "an EphemeralJob that failed in some pods": {
    rules: ephemeral,
    status: { phase: "Running", failed: 1 },
    want: false,
  },
  "an EphemeralJob in error": { rules: ephemeral, status: { phase: "Error" }, want: false },
  "a ContainerRecreateRequest in progress": { rules: recreate, status: { phase: "Recreating" }, want: true },
  "a ContainerRecreateRequest whose containers were all recreated": {
    rules: recreate,
    status: { phase: "Completed", containerRecreateStates: [{ phase: "Succeeded" }] },
    want: true,
  },
  "a ContainerRecreateRequest that ended with a failed container": {
    rules: recreate,
    status: { phase: "Completed", containerRecreateStates: [{ phase: "Succeeded" }, { phase: "Failed" }] },
    want: false,
  },
  "a ContainerRecreateRequest that ended because its pod was deleted": {
    rules: recreate,
    status: { phase: "Completed", message: "pod has gone" },
    want: false,
  },
};
for (const [which, { rules, status, want }] of Object.entries(health)) {
  test(`${which} is ${want ? "healthy" : "unhealthy"}`, () => {
    expect(rules.isHealthy?.(object({ status }))).toBe(want);
  });
}

const parallelisms: Record<string, { parallelism: number | string | undefined; want: unknown[] }> = {
  "is divided over the members": { parallelism: 5, want: [3, 2] },
  "is at least one on each member": { parallelism: 1, want: [1, 1] },
  "is copied as a percentage": { parallelism: "10%", want: ["10%", "10%"] },
  "is copied when it is not set": { parallelism: undefined, want: [undefined, undefined] },
};
for (const [behaviour, { parallelism, want }] of Object.entries(parallelisms)) {
  test(`the parallelism of an image pull job ${behaviour}`, () => {
    const shares = ["oslo", "paris"].map((cluster) => ({ cluster, replicas: 0 }));
    for (const rules of [pulls, listPulls]) {
      const copies = rules.divide?.(object({ spec: { parallelism } }), shares) ?? new Map();
      expect(Array.from(copies.values(), (copy) => (copy as { spec: JsonObject }).spec["parallelism"])).toEqual(want);
    }
  });
}
