/** Conditions of a pod that the server itself sets when it binds or evicts it. */
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import type { Pod, PodCondition } from "../../api/index.ts";
import { formatTime } from "../../base/index.ts";

/** The pod with a condition; its time is that of the last change of its status. Nothing else is touched. */
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

/** Success, as both actions answer it. */
export const SUCCESS: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
