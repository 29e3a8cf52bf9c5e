/** Pod conditions that the API server itself sets when it binds or evicts a pod. */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { Pod } from "@flotilla/kubernetes";
import type { PodCondition } from "@flotilla/apimachinery/facts/core-v1.ts";
import { formatTime } from "@flotilla/base";

/** Returns the pod with a condition whose transition time is that of its last status change. Changes nothing else. */
export function withCondition(
  pod: DeepReadonly<Pod>,
  condition: Omit<PodCondition, "lastTransitionTime">,
  nowMs: number,
): DeepReadonly<Pod> {
  const conditions = pod.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime =
    before?.status === condition.status && before.lastTransitionTime ? before.lastTransitionTime : formatTime(nowMs);
  const next: PodCondition = { ...condition, lastTransitionTime };
  return {
    ...pod,
    status: {
      ...pod.status,
      conditions: before ? conditions.map((each) => (each === before ? next : each)) : [...conditions, next],
    },
  };
}

/** The Success status that both actions return. */
export const SUCCESS: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
