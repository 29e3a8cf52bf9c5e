/** The status of a pod that fits on no node. Pure. */
import type { Pod } from "@flotilla/kubernetes";
import { formatTime, omitZero } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";

/** Undefined if the pod already has it. `node` is the one on which victims make room. */
export function planRefusedStatus(
  { status }: DeepReadonly<Pod>,
  message: string,
  node: string | undefined,
  nowMs: number,
): DeepReadonly<Pod["status"]> {
  const conditions = status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === "PodScheduled");
  const nominatedNodeName = node ?? status?.nominatedNodeName;
  if (before?.status === "False" && before.message === message && nominatedNodeName === status?.nominatedNodeName)
    return undefined;
  const lastTransitionTime =
    before?.status === "False" && before.lastTransitionTime ? before.lastTransitionTime : formatTime(nowMs);
  const refused = { type: "PodScheduled", status: "False", reason: "Unschedulable", message, lastTransitionTime };
  return {
    ...status,
    conditions: [...conditions.filter(({ type }) => type !== "PodScheduled"), refused],
    ...omitZero({ nominatedNodeName }),
  };
}
