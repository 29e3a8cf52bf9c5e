/**
 * A pod that is marked for deletion before others: by the user, or by an update that replaces pods. CloneSet and
 * Advanced StatefulSet delete it when their budget allows.
 */
import type { ReadonlyPod } from "@flotilla/kubernetes";

export const SPECIFIED_DELETE_LABEL = "apps.kruise.io/specified-delete";

/** Any value counts. */
export function isMarkedForDelete({ metadata }: ReadonlyPod): boolean {
  return metadata.labels?.[SPECIFIED_DELETE_LABEL] !== undefined;
}

export function markForDelete(pod: ReadonlyPod): ReadonlyPod {
  return isMarkedForDelete(pod)
    ? pod
    : { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, [SPECIFIED_DELETE_LABEL]: "true" } } };
}
