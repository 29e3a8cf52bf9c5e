/** How long a pod may wait for a node. Pure. */
import { timeMs } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";

/**
 * How long the pod may still be pending, counted from its creation; negative if that is exceeded, undefined if it is
 * not pending.
 */
export function schedulingTimeLeftMs(
  { metadata, spec, status }: ReadonlyPod,
  timeoutMs: number,
  nowMs: number,
): number | undefined {
  if (metadata.deletionTimestamp || status?.phase !== "Pending" || spec.nodeName) return undefined;
  const isRefused = status.conditions?.some(
    (condition) =>
      condition.type === "PodScheduled" && condition.status === "False" && condition.reason === "Unschedulable",
  );
  return isRefused ? timeMs(metadata.creationTimestamp) + timeoutMs - nowMs : undefined;
}
