/** The status of a SidecarSet. Pure. */
import type { SidecarSetStatus } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";
import { isSettled, isSidecarUpdated } from "./sidecarset-pod-state.ts";

export function planSidecarSetStatus(
  set: ReadonlySidecarSet,
  pods: readonly ReadonlyPod[],
  latestRevision: string,
  collisionCount: number,
): SidecarSetStatus {
  let updatedPods = 0;
  let readyPods = 0;
  let updatedReadyPods = 0;
  for (const pod of pods) {
    const isUpdated = isSidecarUpdated(pod, set);
    if (isUpdated) updatedPods++;
    if (!isSettled(pod, set)) continue;
    readyPods++;
    if (isUpdated) updatedReadyPods++;
  }
  const { generation } = set.metadata;
  return {
    observedGeneration: generation || undefined,
    matchedPods: pods.length,
    updatedPods,
    readyPods,
    updatedReadyPods: updatedReadyPods > 0 ? updatedReadyPods : undefined,
    latestRevision,
    collisionCount,
  };
}
