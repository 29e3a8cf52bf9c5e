/**
 * What the CloneSet controller asks about one of its pods. Pure; see also the general questions in `kubernetes/pod.ts`.
 */
import type { CloneSet } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { isAvailable, isReady, podCondition } from "../../kubernetes/pod.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { IN_PLACE_READY } from "../in-place/state.ts";
import { lifecycleState } from "../lifecycle/lifecycle.ts";
import { isMarkedForDelete } from "../specified-delete.ts";

export type ReadonlyCloneSet = DeepReadonly<CloneSet>;

/** False while the containers are being changed under the pod. */
function isSettledInPlace(pod: ReadonlyPod): boolean {
  const condition = podCondition(pod, IN_PLACE_READY);
  return condition === undefined || condition.status === "True";
}

/** Counted in `readyReplicas`; the lifecycle state plays no part. */
export function isPodReady(pod: ReadonlyPod): boolean {
  return pod.status?.phase === "Running" && isReady(pod) && isSettledInPlace(pod);
}

/** Counted in `availableReplicas`, and what budgets protect. */
export function isPodAvailable(pod: ReadonlyPod, minReadySeconds: number, nowMs: number): boolean {
  const state = lifecycleState(pod);
  return (state === "" || state === "Normal") && isPodReady(pod) && isAvailable(pod, minReadySeconds, nowMs);
}

/** The user, or a recreate update, wants exactly this pod gone. */
export function isSpecifiedDelete({ spec }: ReadonlyCloneSet, pod: ReadonlyPod): boolean {
  return isMarkedForDelete(pod) || (spec.scaleStrategy?.podsToDelete?.includes(pod.metadata.name) ?? false);
}
