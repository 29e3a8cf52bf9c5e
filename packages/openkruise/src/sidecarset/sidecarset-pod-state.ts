/** The state of a pod for a SidecarSet: updated, upgradable, ready. Pure. */
import { SIDECAR_SET_HASH_ANNOTATION, SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION } from "./sidecarset-hash.ts";
import { isReady } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isSidecarStateConsistent, sidecarsInPod } from "./consistency.ts";
import { idleContainers, imagesOf } from "./hot-upgrade.ts";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";
import { podHash } from "./records.ts";

export function isSidecarUpdated(pod: ReadonlyPod, { metadata }: ReadonlySidecarSet): boolean {
  return podHash(pod, metadata.name) === (metadata.annotations?.[SIDECAR_SET_HASH_ANNOTATION] ?? "");
}

/** Running and ready, without a hot upgrade in progress. */
export function isSidecarPodReady(pod: ReadonlyPod, set: ReadonlySidecarSet): boolean {
  if (pod.status?.phase !== "Running" || !isReady(pod)) return false;
  const idle = idleContainers(set, pod);
  if (idle.size === 0) return true;
  const images = imagesOf(pod);
  return [...idle].every(
    ([name, emptyImage]) => emptyImage === "" || !images.has(name) || images.get(name) === emptyImage,
  );
}

/** Ready, and every sidecar runs its spec. */
export const isSettled = (pod: ReadonlyPod, set: ReadonlySidecarSet): boolean =>
  isSidecarStateConsistent(pod, set) && isSidecarPodReady(pod, set);

/** `no`: other fields than images changed, which needs a new pod. `later`: an earlier update is not complete. */
export type Upgradable = "yes" | "no" | "later";

export function upgradable(pod: ReadonlyPod, set: ReadonlySidecarSet): Upgradable {
  const { annotations, name } = set.metadata;
  if (
    podHash(pod, name, SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION) !==
    (annotations?.[SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION] ?? "")
  )
    return "no";
  const ready = new Map(pod.status?.containerStatuses?.map((status) => [status.name, status.ready]));
  for (const sidecar of sidecarsInPod(set))
    if (ready.get(sidecar) && !isSidecarStateConsistent(pod, set, new Set([sidecar]))) return "later";
  return "yes";
}
