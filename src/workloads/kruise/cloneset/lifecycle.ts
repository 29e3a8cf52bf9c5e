/**
 * Where a pod stands in its life with the CloneSet: `PreparingNormal → Normal`, and `Updating → Normal` around an in-place
 * update. States other than Normal make a pod unavailable. Hooks, which hold a pod in a state, are refused on admission.
 */
import { formatTime } from "../../../base/index.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { isInPlaceComplete } from "./in-place.ts";
import { LIFECYCLE_STATE_LABEL, LIFECYCLE_TIMESTAMP_ANNOTATION } from "./names.ts";
import { hasRevision, lifecycleState } from "./pod-state.ts";

/** The state that follows, or undefined while the pod stays in its own. */
export function nextLifecycleState(pod: ReadonlyPod, updateRevision: string): "Normal" | undefined {
  switch (lifecycleState(pod)) {
    case "PreparingNormal":
      return pod.spec?.nodeName ? "Normal" : undefined;
    // Without hooks nothing waits here; a pod labelled so by a real cluster's controller goes on when it is up to date.
    case "PreparingUpdate":
      return hasRevision(pod, updateRevision) ? "Normal" : undefined;
    case "Updating":
      return isInPlaceComplete(pod) ? "Normal" : undefined;
    case "Updated":
      return "Normal";
    default:
      return undefined;
  }
}

/** The pod in another state. */
export function withLifecycleState(pod: ReadonlyPod, state: string, nowMs: number): ReadonlyPod {
  const labels = { ...pod.metadata.labels, [LIFECYCLE_STATE_LABEL]: state };
  const annotations = { ...pod.metadata.annotations, [LIFECYCLE_TIMESTAMP_ANNOTATION]: formatTime(nowMs) };
  return { ...pod, metadata: { ...pod.metadata, labels, annotations } };
}
