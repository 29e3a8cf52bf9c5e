import { expect, test } from "vitest";
import { findPodProblems, missingReference, problemText } from "./pod-problems.ts";
import type { PodWarning } from "./pod-problems.ts";
import type { JsonObject } from "@flotilla/base";

const pod = (status: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name: "web-1", ...metadata },
  status: { phase: "Pending", ...status },
});
const waiting = (reason: string, message = "", more: JsonObject = {}): JsonObject => ({
  name: "main",
  image: "nginx:broken",
  ready: false,
  state: { waiting: { reason, message } },
  ...more,
});
const exited = (exitCode: number, reason = "Error"): JsonObject => ({ terminated: { exitCode, reason } });
const notReady = { conditions: [{ type: "Ready", status: "False" }] };

const readyContainer = { name: "main", ready: true, state: { running: {} } };

const cases: Record<string, { of: JsonObject; want: string[]; isCertain?: boolean }> = {
  "an image that cannot be pulled is named": {
    of: pod({ containerStatuses: [waiting("ImagePullBackOff", 'Back-off pulling image "nginx:broken"')] }),
    want: ["1 pod waits: ImagePullBackOff: image nginx:broken"],
    isCertain: true,
  },
  "a missing Secret is named in the kubelet's words": {
    of: pod({ containerStatuses: [waiting("CreateContainerConfigError", 'secret "db" not found')] }),
    want: ['1 pod waits: CreateContainerConfigError: secret "db" not found'],
    isCertain: true,
  },
  "a crash loop has the exit code": {
    of: pod({
      phase: "Running",
      containerStatuses: [waiting("CrashLoopBackOff", "back-off 10s", { lastState: exited(137, "OOMKilled") })],
    }),
    want: ["1 pod waits: CrashLoopBackOff: container main exited with code 137 (OOMKilled)"],
    isCertain: true,
  },
  "an init container that fails comes before the containers that wait for it": {
    of: pod({
      initContainerStatuses: [{ ...waiting("CrashLoopBackOff"), name: "setup", lastState: exited(1) }],
      containerStatuses: [waiting("PodInitializing")],
    }),
    want: ["1 pod waits: CrashLoopBackOff: container setup exited with code 1"],
    isCertain: true,
  },
  "a pod without a node has the scheduler's words": {
    of: pod({
      conditions: [
        { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes are available" },
      ],
    }),
    want: ["1 pod waits: Unschedulable: 0/3 nodes are available"],
    isCertain: false,
  },
  "a pod whose containers are created may need a moment": {
    of: pod({ ...notReady, containerStatuses: [waiting("ContainerCreating")] }),
    want: ["1 pod waits: ContainerCreating"],
    isCertain: false,
  },
  "a node that no longer reports is named": {
    of: {
      ...pod({ phase: "Running", ...notReady, containerStatuses: [readyContainer] }),
      spec: { nodeName: "node-1" },
    },
    want: ["1 pod is not ready: its containers were ready when its node node-1 last reported; check the node"],
    isCertain: false,
  },
  "a readiness gate that is not true is named": {
    of: {
      ...pod({ phase: "Running", ...notReady, containerStatuses: [readyContainer] }),
      spec: { nodeName: "node-1", readinessGates: [{ conditionType: "example.com/lb" }] },
    },
    want: ["1 pod is not ready: its readiness gate example.com/lb is not true"],
    isCertain: false,
  },
  "a running container that never becomes ready is named": {
    of: pod({
      ...notReady,
      phase: "Running",
      containerStatuses: [{ name: "main", ready: false, state: { running: {} } }],
    }),
    want: ["1 pod is not ready: container main runs, but its readiness probe does not succeed"],
    isCertain: false,
  },
  "a failed pod has the exit code": {
    of: pod({ phase: "Failed", containerStatuses: [{ name: "main", state: exited(2) }] }),
    want: ["1 pod failed: Error: container main exited with code 2"],
    isCertain: true,
  },
  "an evicted pod has the kubelet's words": {
    of: pod({ phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." }),
    want: ["1 pod failed: Evicted: The node was low on resource: memory."],
    isCertain: true,
  },
  "a ready pod has no problem": {
    of: pod({
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [{ name: "main", ready: true, state: { running: {} } }],
    }),
    want: [],
  },
  "a pod that is being deleted is not reported": {
    of: pod({ containerStatuses: [waiting("ImagePullBackOff")] }, { deletionTimestamp: "2024-05-01T12:00:00Z" }),
    want: [],
  },
  "a finished pod is not reported": { of: pod({ phase: "Succeeded" }), want: [] },
};
for (const [behaviour, { of, want, isCertain }] of Object.entries(cases)) {
  test(behaviour, () => {
    const problems = findPodProblems([of]);

    expect(problems.map((problem) => problemText(problem))).toEqual(want);
    expect(problems[0]?.isCertain).toBe(isCertain);
  });
}

test("pods with the same reason are counted together, the certain ones first", () => {
  const broken = pod({ containerStatuses: [waiting("ImagePullBackOff")] });
  const creating = pod({ ...notReady, containerStatuses: [waiting("ContainerCreating")] });

  expect(
    findPodProblems([creating, creating, creating, broken, broken]).map((problem) => problemText(problem)),
  ).toEqual(["2 pods wait: ImagePullBackOff: image nginx:broken", "3 pods wait: ContainerCreating"]);
});

test("pods of an older revision that stay are another problem than new pods with the same reason", () => {
  const broken = (name: string): JsonObject => pod({ containerStatuses: [waiting("ImagePullBackOff")] }, { name });
  const isOutdated = (one: JsonObject): boolean => (one["metadata"] as JsonObject)["name"] !== "web-2";

  const problems = findPodProblems(["web-0", "web-1", "web-2"].map(broken), [], isOutdated);

  expect(problems.map((problem) => [problemText(problem), problem.outdated])).toEqual([
    ["2 pods of an older revision wait: ImagePullBackOff: image nginx:broken", ["web-0", "web-1"]],
    ["1 pod waits: ImagePullBackOff: image nginx:broken", []],
  ]);
});

test("the newest warning about a mount explains containers that are not created, but not one about an earlier pod", () => {
  const creating = { ...notReady, containerStatuses: [waiting("ContainerCreating")] };
  const pods = ["web-0", "web-1"].map((name) => pod(creating, { name, creationTimestamp: "2026-01-01T00:00:00Z" }));
  const warning = (name: string, at: string, message: string): PodWarning => ({
    pod: name,
    reason: "FailedMount",
    message,
    atMs: Date.parse(at),
  });

  const problems = findPodProblems(pods, [
    warning("web-0", "2026-01-01T00:00:02Z", 'secret "db" not found'),
    warning("web-0", "2026-01-01T00:00:01Z", "timed out"),
    warning("web-1", "2025-12-31T23:59:59Z", 'secret "old" not found'),
  ]);

  expect(problems.map((problem) => [problemText(problem), problem.isCertain])).toEqual([
    ['1 pod waits: ContainerCreating: secret "db" not found', true],
    ["1 pod waits: ContainerCreating", false],
  ]);
});

test("the object that a cause names as missing", () => {
  const causes = [
    'CreateContainerConfigError: secret "db" not found',
    'FailedCreate: error looking up service account shop/web: serviceaccount "web" not found',
    'Unschedulable: 0/3 nodes are available: persistentvolumeclaim "data" not found',
    'namespaces "shop" not found',
  ];

  expect(causes.map(missingReference)).toEqual([
    { kind: "Secret", name: "db" },
    { kind: "ServiceAccount", name: "web" },
    { kind: "PersistentVolumeClaim", name: "data" },
    undefined,
  ]);
});
