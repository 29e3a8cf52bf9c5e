import { describe, expect, test } from "vitest";
import type { Pod } from "@flotilla/kubernetes";
import type { PodSpec, PodStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import { deepFreeze } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { outdatedContainers, planPodStatus, stoppingStatus } from "./pod-status.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const LATER = NOW + 60_000;

function makePod(
  image = "web:1",
  spec: Partial<PodSpec> = {},
  status: DeepReadonly<PodStatus> = { phase: "Pending", qosClass: "BestEffort" },
): DeepReadonly<Pod> {
  return deepFreeze({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", uid: "u-1" },
    spec: { nodeName: "node-000", containers: [{ name: "main", image }], ...spec },
    status,
  });
}
const settledStatus = (pod: DeepReadonly<Pod>, hostIP: string | undefined, nowMs: number): DeepReadonly<PodStatus> =>
  planPodStatus(pod, { nowMs, hostIP, podIP: () => "10.128.0.1" }).status;
const conditionsOf = (status: DeepReadonly<PodStatus>): Record<string, string> =>
  Object.fromEntries(
    (status.conditions ?? []).map(({ type, status: value, reason }) => [type, reason ? `${value} ${reason}` : value]),
  );
const gated = { readinessGates: [{ conditionType: "InPlaceUpdateReady" }] };

describe("a starting pod", () => {
  const status = settledStatus(makePod(), "172.16.0.1", NOW);

  test("runs, is ready, and keeps the status fields set by the server", () => {
    expect(status).toMatchObject({
      phase: "Running",
      qosClass: "BestEffort",
      hostIP: "172.16.0.1",
      startTime: "2024-05-01T12:00:00Z",
    });
    expect(status.podIP).toMatch(/^10\.\d+\.\d+\.\d+$/);
    expect(conditionsOf(status)).toEqual({
      PodReadyToStartContainers: "True",
      Initialized: "True",
      Ready: "True",
      ContainersReady: "True",
      PodScheduled: "True",
    });
    expect(status.containerStatuses?.[0]).toMatchObject({
      name: "main",
      image: "web:1",
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: "2024-05-01T12:00:00Z" } },
    });
  });

  test("has the same status an hour later, so nothing is written again", () => {
    expect(settledStatus(makePod("web:1", {}, status), "172.16.0.1", NOW + 3_600_000)).toEqual(status);
  });

  test("never becomes ready when its image cannot be pulled", () => {
    const broken = settledStatus(makePod("web:broken"), undefined, NOW);

    expect(broken.phase).toBe("Pending");
    expect(broken.containerStatuses?.[0]?.state?.waiting?.reason).toBe("ImagePullBackOff");
    expect(conditionsOf(broken)).toMatchObject({
      Ready: "False ContainersNotReady",
      ContainersReady: "False ContainersNotReady",
    });
    expect(settledStatus(makePod("web:broken", {}, broken), undefined, LATER)).toEqual(broken);
  });

  test("completes its init containers first", () => {
    const withInit = settledStatus(
      makePod("web:1", { initContainers: [{ name: "init", image: "init:1" }] }),
      undefined,
      NOW,
    );

    expect(withInit.initContainerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
    expect(
      settledStatus(
        makePod("web:1", { initContainers: [{ name: "init", image: "init:1" }] }, withInit),
        undefined,
        LATER,
      ),
    ).toEqual(withInit);
  });
});

describe("a plain command", () => {
  const commanded = (text: string, spec: Partial<PodSpec> = {}) =>
    makePod("web:1", {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "web:1", command: ["sh", "-c", text] }],
      ...spec,
    });
  const around = (nowMs: number) => ({ nowMs, hostIP: undefined, podIP: () => "10.128.0.1" });
  const later = (pod: DeepReadonly<Pod>, nowMs: number): DeepReadonly<PodStatus> =>
    planPodStatus({ ...pod, status: planPodStatus(pod, around(NOW)).status }, around(nowMs)).status;

  test("runs for its duration and exits with its code", () => {
    const pod = commanded("sleep 30; exit 3");
    const started = planPodStatus(pod, around(NOW));

    expect(started).toMatchObject({ status: { phase: "Running" }, dueMs: NOW + 30_000 });
    expect(later(pod, NOW + 30_000)).toMatchObject({
      phase: "Failed",
      containerStatuses: [{ state: { terminated: { exitCode: 3 } } }],
    });
  });

  test("a plain command that fails is restarted if the restart policy allows it", () => {
    const { status } = planPodStatus(commanded("false", { restartPolicy: "OnFailure" }), around(NOW));

    expect(status).toMatchObject({
      phase: "Running",
      containerStatuses: [{ restartCount: 1, state: { waiting: { reason: "CrashLoopBackOff" } } }],
    });
  });

  test("does not end a container that always restarts", () => {
    const plan = planPodStatus(commanded("sleep 30", { restartPolicy: "Always" }), around(NOW));

    expect(plan.dueMs).toBeUndefined();
    expect(plan.status.phase).toBe("Running");
  });

  test("is overridden by annotations", () => {
    const pod = commanded("sleep 30; exit 3");
    const annotated = { ...pod, metadata: { ...pod.metadata, annotations: { "sim/run": "5", "sim/exit-code": "4" } } };

    expect(planPodStatus(annotated, around(NOW)).dueMs).toBe(NOW + 5_000);
    expect(later(annotated, NOW + 5_000)).toMatchObject({
      phase: "Failed",
      containerStatuses: [{ state: { terminated: { exitCode: 4 } } }],
    });
  });

  test("determines how long the pod of a Job runs; any other command takes no time", () => {
    const ofJob = (command: string[]) => {
      const pod = commanded("true", { containers: [{ name: "main", image: "web:1", command }] });
      return {
        ...pod,
        metadata: {
          ...pod.metadata,
          ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "u-2" }],
        },
      };
    };

    expect(planPodStatus(ofJob(["sleep", "30"]), around(NOW))).toMatchObject({
      status: { phase: "Running" },
      dueMs: NOW + 30_000,
    });
    expect(planPodStatus(ofJob(["perl", "-e", "print 1"]), around(NOW)).status.phase).toBe("Succeeded");
  });

  test("a plain command of an init container delays the other containers", () => {
    const pod = makePod("web:1", { initContainers: [{ name: "init", image: "init:1", command: ["sleep", "5"] }] });
    const started = planPodStatus(pod, around(NOW));

    expect(started).toMatchObject({
      status: {
        phase: "Pending",
        initContainerStatuses: [{ ready: false, state: { running: {} } }],
        containerStatuses: [{ state: { waiting: { reason: "PodInitializing" } } }],
      },
      dueMs: NOW + 5_000,
    });
    expect(conditionsOf(started.status)).toMatchObject({ Initialized: "False ContainersNotInitialized" });
    expect(later(pod, NOW + 5_000)).toMatchObject({
      phase: "Running",
      initContainerStatuses: [{ ready: true, state: { terminated: { exitCode: 0 } } }],
    });
  });

  test("a plain command of a failing init container blocks the other containers", () => {
    const initContainers = [{ name: "init", image: "init:1", command: ["false"] }];
    const repeated = planPodStatus(makePod("web:1", { initContainers }), around(NOW));
    const once = planPodStatus(makePod("web:1", { initContainers, restartPolicy: "Never" }), around(NOW));

    expect(repeated).toMatchObject({
      status: {
        phase: "Pending",
        initContainerStatuses: [{ ready: false, restartCount: 1, state: { waiting: { reason: "CrashLoopBackOff" } } }],
      },
      dueMs: NOW + 10_000,
    });
    expect(once.status).toMatchObject({
      phase: "Failed",
      initContainerStatuses: [{ ready: false, state: { terminated: { exitCode: 1 } } }],
      containerStatuses: [{ state: { waiting: { reason: "PodInitializing" } } }],
    });
    expect(conditionsOf(once.status)).toMatchObject({
      Initialized: "False ContainersNotInitialized",
      Ready: "False PodFailed",
    });
  });
});

describe("readiness gates", () => {
  test("keep a running pod unready until their condition is True", () => {
    const waiting = settledStatus(makePod("web:1", gated), undefined, NOW);
    const opened = {
      ...waiting,
      conditions: [
        ...(waiting.conditions ?? []),
        { type: "InPlaceUpdateReady", status: "True", lastTransitionTime: "2024-05-01T12:00:01Z" },
      ],
    };

    expect(conditionsOf(waiting)["Ready"]).toBe("False ReadinessGatesNotReady");
    expect(conditionsOf(settledStatus(makePod("web:1", gated, opened), undefined, LATER))["Ready"]).toBe("True");
  });

  test("preserves conditions of other writers", () => {
    const foreign = {
      type: "example.com/Mine",
      status: "False",
      reason: "Because",
      lastTransitionTime: "2024-01-01T00:00:00Z",
    };

    const status = settledStatus(makePod("web:1", {}, { phase: "Pending", conditions: [foreign] }), undefined, NOW);

    expect(status.conditions?.[0]).toEqual(foreign);
  });
});

describe("an image change in a running pod", () => {
  const running = settledStatus(makePod("web:1"), undefined, NOW);
  const changed = makePod("web:2", {}, running);

  test("marks its container as outdated and the pod as unready while the container is down", () => {
    expect(outdatedContainers(changed)).toEqual(["main"]);
    expect(conditionsOf(stoppingStatus(changed, ["main"], LATER))).toMatchObject({
      Ready: "False ContainersNotReady",
      ContainersReady: "False ContainersNotReady",
    });
  });

  test("restarts the container with another image id in the same pod", () => {
    const status = settledStatus(changed, undefined, LATER);
    const [before] = running.containerStatuses ?? [];
    const [after] = status.containerStatuses ?? [];

    expect(after).toMatchObject({
      image: "web:2",
      restartCount: 1,
      ready: true,
      lastState: { terminated: { exitCode: 0, finishedAt: "2024-05-01T12:01:00Z" } },
    });
    expect(after?.imageID).not.toBe(before?.imageID);
    expect(after?.containerID).not.toBe(before?.containerID);
    expect([status.podIP, status.startTime]).toEqual([running.podIP, running.startTime]);
  });

  test("counts one restart, even with a broken image in between", () => {
    const broken = settledStatus(makePod("web:broken", {}, running), undefined, LATER);
    const repaired = settledStatus(makePod("web:3", {}, broken), undefined, LATER);

    expect([broken.phase, broken.containerStatuses?.[0]?.ready]).toEqual(["Running", false]);
    expect(repaired.containerStatuses?.[0]).toMatchObject({ image: "web:3", restartCount: 1, ready: true });
  });
});
