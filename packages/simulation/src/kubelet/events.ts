/**
 * Events that a kubelet emits about a pod. Only for problems: a pod that simply runs costs its three writes and no
 * event. Pure.
 */
import type { ContainerStatus, PodStatus } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { RecordedEvent } from "@flotilla/controller-runtime";

type Item = DeepReadonly<ContainerStatus>;

const both = (status: DeepReadonly<PodStatus> | undefined): Item[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/**
 * The events for the change from the pod's old status to this one; `mountProblem` is the reason why its volumes are
 * missing.
 */
export function planPodEvents(
  pod: DeepReadonly<Pod>,
  status: DeepReadonly<PodStatus>,
  mountProblem?: string,
): RecordedEvent[] {
  const before = new Map(both(pod.status).map((item) => [item.name, item]));
  const events = both(status).flatMap((item) => containerEvents(item, before.get(item.name)));
  if (mountProblem !== undefined) events.push({ type: "Warning", reason: "FailedMount", message: mountProblem });
  if (status.reason !== undefined && status.reason !== pod.status?.reason)
    events.push({ type: "Warning", reason: status.reason, message: status.message ?? status.reason });
  return events;
}

function containerEvents(item: Item, before: Item | undefined): RecordedEvent[] {
  const { waiting } = item.state ?? {};
  if (
    !waiting?.reason ||
    (before?.state?.waiting?.reason === waiting.reason && before.state.waiting.message === waiting.message)
  )
    return [];
  switch (waiting.reason) {
    case "ImagePullBackOff":
      return [
        {
          type: "Warning",
          reason: "Failed",
          message: `Failed to pull image "${item.image}": the simulation has no such image`,
        },
        { type: "Warning", reason: "Failed", message: "Error: ErrImagePull" },
        { type: "Normal", reason: "BackOff", message: waiting.message ?? "" },
      ];
    case "CreateContainerConfigError":
      return [{ type: "Warning", reason: "Failed", message: `Error: ${waiting.message ?? ""}` }];
    case "CrashLoopBackOff":
      return [
        {
          type: "Warning",
          reason: "BackOff",
          message: (waiting.message ?? "").replace(/^back-off \S+ restarting/, "Back-off restarting"),
        },
      ];
    default:
      return [];
  }
}
