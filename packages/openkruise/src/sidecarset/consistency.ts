/**
 * Whether the containers of a pod run its spec. During an in-place update they do not: then the pod counts as not
 * ready, whatever its conditions are. Pure.
 */
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isSameImage, parseImage } from "../pod/same-image.ts";
import { IN_PLACE_STATE_ANNOTATION, isHotUpgrade } from "./sidecarset-names.ts";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";
import { readUpdateStates } from "./records.ts";

/** The containers of a set in a pod, including both of a hot upgrade. */
export function sidecarsInPod({ spec }: ReadonlySidecarSet): Set<string> {
  return new Set(
    (spec.containers ?? []).flatMap((container) =>
      isHotUpgrade(container) ? [`${container.name}-1`, `${container.name}-2`] : [container.name],
    ),
  );
}

const isDigest = (image: string): boolean => Boolean(parseImage(image)?.digest);

/** An image with a digest runs if the status has the same digest; undefined for an image without one. */
export function runsDigest({ status }: ReadonlyPod, name: string, image: string): boolean | undefined {
  if (!isDigest(image)) return undefined;
  const imageId = status?.containerStatuses?.find((container) => container.name === name)?.imageID;
  if (imageId === undefined) return false;
  // `docker-pullable://busybox@sha256:…`
  return isSameImage(image, imageId.includes("://") ? (imageId.split("://")[1] ?? "") : imageId);
}

/** `containers` are the relevant ones; unset: those of the set. */
export function isSidecarStateConsistent(
  pod: ReadonlyPod,
  set: ReadonlySidecarSet,
  containers?: ReadonlySet<string>,
): boolean {
  const all = pod.spec.containers ?? [];
  if (all.length !== (pod.status?.containerStatuses?.length ?? 0)) return false;
  const concerned = containers?.size ? containers : sidecarsInPod(set);
  for (const { name, image = "" } of all) {
    if (!concerned.has(name)) continue;
    const runs = runsDigest(pod, name, image);
    if (runs === undefined) return isSidecarUpdateComplete(pod, [set.metadata.name], concerned);
    if (!runs) return false;
  }
  return true;
}

/** A container whose image changed at runtime has another image ID, or at least the desired image. */
export function isSidecarUpdateComplete(
  pod: ReadonlyPod,
  sets: readonly string[],
  containers: ReadonlySet<string>,
): boolean {
  // A pod that was never updated runs its original spec.
  if (pod.metadata.annotations?.[IN_PLACE_STATE_ANNOTATION] === undefined) return true;
  const states = readUpdateStates(pod);
  if (!states) return false;
  const before = new Map<string, string>();
  for (const set of sets.toSorted())
    for (const [name, { imageID = "" }] of Object.entries(states.get(set)?.lastContainerStatuses ?? {}))
      before.set(name, imageID);
  if (before.size === 0) return true;
  const images = new Map(pod.spec.containers?.map(({ name, image }) => [name, image ?? ""]));
  return (pod.status?.containerStatuses ?? []).every(
    ({ name, imageID, image }) =>
      !containers.has(name) || before.get(name) !== (imageID || "") || images.get(name) === (image || ""),
  );
}
