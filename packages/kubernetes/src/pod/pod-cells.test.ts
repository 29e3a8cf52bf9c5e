import { expect, test } from "vitest";
import type { ContainerStatus, Pod } from "@flotilla/apimachinery/facts/core-v1.ts";
import { podReady, podRestarts, podStatus, readinessGates } from "./pod-cells.ts";

const status = (
  name: string,
  state: ContainerStatus["state"],
  rest: Partial<ContainerStatus> = {},
): ContainerStatus => ({ name, image: "i", imageID: "", ready: false, restartCount: 0, state, ...rest });
const pod = (parts: Partial<Omit<Pod, "spec">> & { spec?: Partial<Pod["spec"]> } = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  ...parts,
  spec: { containers: [{ name: "c", image: "i" }], ...parts.spec },
});

const words: Record<string, [pod: Pod, want: string]> = {
  "is the phase by default": [pod({ status: { phase: "Pending" } }), "Pending"],
  "is the reason of the pod status": [pod({ status: { phase: "Failed", reason: "Evicted" } }), "Evicted"],
  "is the waiting reason of a container": [
    pod({
      status: { phase: "Running", containerStatuses: [status("c", { waiting: { reason: "CrashLoopBackOff" } })] },
    }),
    "CrashLoopBackOff",
  ],
  "is the termination reason of a container": [
    pod({
      status: {
        phase: "Succeeded",
        containerStatuses: [status("c", { terminated: { exitCode: 0, reason: "Completed" } })],
      },
    }),
    "Completed",
  ],
  "is the signal of a container that terminated without a reason": [
    pod({
      status: { phase: "Running", containerStatuses: [status("c", { terminated: { exitCode: 137, signal: 9 } })] },
    }),
    "Signal:9",
  ],
  "is the waiting reason of the first unfinished init container": [
    pod({
      spec: { initContainers: [{ name: "i1" }, { name: "i2" }] },
      status: {
        phase: "Pending",
        initContainerStatuses: [
          status("i1", { terminated: { exitCode: 0 } }),
          status("i2", { waiting: { reason: "ImagePullBackOff" } }),
        ],
      },
    }),
    "Init:ImagePullBackOff",
  ],
  "counts init containers while they run": [
    pod({
      spec: { initContainers: [{ name: "i1" }, { name: "i2" }] },
      status: { phase: "Pending", initContainerStatuses: [status("i1", { running: {} }), status("i2", undefined)] },
    }),
    "Init:0/2",
  ],
  "is SchedulingGated while the pod has scheduling gates": [
    pod({
      status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] },
    }),
    "SchedulingGated",
  ],
  "is Terminating once the pod is being deleted": [
    pod({ metadata: { name: "a", deletionTimestamp: "2024-05-01T12:00:00Z" }, status: { phase: "Running" } }),
    "Terminating",
  ],
};
for (const [behaviour, [object, want]] of Object.entries(words)) {
  test(`a pod's status ${behaviour}`, () => {
    expect(podStatus(object)).toBe(want);
  });
}

test("counts ready containers, including sidecars", () => {
  const object = pod({
    spec: { initContainers: [{ name: "s", restartPolicy: "Always" }, { name: "once" }] },
    status: {
      containerStatuses: [status("c", { running: {} }, { ready: true })],
      initContainerStatuses: [status("s", { running: {} }, { ready: true, started: true })],
    },
  });

  expect(podReady(object)).toBe("2/2");
});

test("prints the number of restarts and the time since the last one", () => {
  const ended = { terminated: { exitCode: 1, finishedAt: "2024-05-01T12:00:00Z" } };
  const object = pod({
    status: {
      containerStatuses: [
        status("c", { running: {} }, { restartCount: 3, lastState: ended }),
        status("d", { running: {} }),
      ],
    },
  });

  expect(podRestarts(object, Date.UTC(2024, 4, 1, 12, 5))).toBe("3 (5m ago)");
});

test("counts readiness gates that are met", () => {
  expect(readinessGates(pod())).toBe("<none>");
  expect(readinessGates(pod({ spec: { readinessGates: [{ conditionType: "a.b/c" }] } }))).toBe("0/1");
});
