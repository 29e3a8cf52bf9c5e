/**
 * Predicates of the CloneSet controller on one pod. Pure; see also the general ones in
 * `kubernetes/src/pod/pod-state.ts`.
 */
import type { CloneSet } from "./cloneset-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { isAvailable, isReady, podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { IN_PLACE_READY } from "../in-place/state.ts";
import { lifecycleState } from "../lifecycle/lifecycle.ts";
import { isMarkedForDelete } from "../pod/specified-delete.ts";

export type ReadonlyCloneSet = DeepReadonly<CloneSet>;

/** False while an in-place update is changing the containers. */
function isSettledInPlace(pod: ReadonlyPod): boolean {
  const condition = podCondition(pod, IN_PLACE_READY);
  return condition === undefined || condition.status === "True";
}

/** Counts in `readyReplicas`; the lifecycle state is ignored. */
export function isPodReady(pod: ReadonlyPod): boolean {
  return pod.status?.phase === "Running" && isReady(pod) && isSettledInPlace(pod);
}

/** Counts in `availableReplicas` and for budgets. */
export function isPodAvailable(pod: ReadonlyPod, minReadySeconds: number, nowMs: number): boolean {
  const state = lifecycleState(pod);
  return (state === "" || state === "Normal") && isPodReady(pod) && isAvailable(pod, minReadySeconds, nowMs);
}

/** The user, or a recreate update, marked this pod for deletion. */
export function isSpecifiedDelete({ spec }: ReadonlyCloneSet, pod: ReadonlyPod): boolean {
  return isMarkedForDelete(pod) || (spec.scaleStrategy?.podsToDelete?.includes(pod.metadata.name) ?? false);
}
