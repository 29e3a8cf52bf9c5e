/** The node of the recorded traces, which acts once between two reconciles. Only for tests. */
import { formatTime } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";

/** The pod runs its spec, and is ready when all its gates are true. */
export function nodeActs(pod: ReadonlyPod, nowMs: number): ReadonlyPod {
  const old = pod.status?.conditions ?? [];
  const gatesOpen = pod.spec?.readinessGates?.every(({ conditionType }) => old.some(({ type, status }) => type === conditionType && status === "True")) ?? true;
  const next = (type: string, status: string): object => {
    const before = old.find((condition) => condition.type === type);
    return { type, status, lastTransitionTime: before?.status === status ? before.lastTransitionTime : formatTime(nowMs) };
  };
  return {
    ...pod,
    spec: { ...pod.spec, nodeName: "node" },
    status: {
      ...pod.status,
      phase: "Running",
      containerStatuses: pod.spec?.containers.map(({ name, image }) => ({ name, image, imageID: `id-${image}`, ready: true, restartCount: 0 })),
      conditions: [...old.filter(({ type }) => type !== "Ready" && type !== "ContainersReady"), next("ContainersReady", "True"), next("Ready", gatesOpen ? "True" : "False")],
    },
  } as unknown as ReadonlyPod;
}
