/** What the CloneSet controller asks about one of its pods. Pure; see also the general questions in `kubernetes/pod.ts`. */
import type { CloneSet } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { isAvailable, isReady, podCondition } from "../../kubernetes/pod.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { IN_PLACE_READY, LIFECYCLE_STATE_LABEL, REVISION_LABEL, SPECIFIED_DELETE_LABEL, shortHash } from "./names.ts";

export type ReadonlyCloneSet = DeepReadonly<CloneSet>;

/** A pod may carry the whole name of its revision or only the hash. */
export function hasRevision({ metadata }: ReadonlyPod, revision: string): boolean {
  const label = metadata.labels?.[REVISION_LABEL] ?? "";
  return label === revision || (label !== "" && shortHash(label) === shortHash(revision));
}

export function lifecycleState({ metadata }: ReadonlyPod): string {
  return metadata.labels?.[LIFECYCLE_STATE_LABEL] ?? "";
}

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
export function isSpecifiedDelete(cloneSet: ReadonlyCloneSet, { metadata }: ReadonlyPod): boolean {
  return metadata.labels?.[SPECIFIED_DELETE_LABEL] !== undefined || (cloneSet.spec.scaleStrategy?.podsToDelete?.includes(metadata.name) ?? false);
}
