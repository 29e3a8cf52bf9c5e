/**
 * The update order of an Advanced StatefulSet's pods, without those that the partition keeps.
 *
 * Ordered updates start from the highest ordinal. Unordered ones put updated and terminating pods first, so that the
 * partition always selects the same pods; the user's priorities order the rest. Pure.
 */
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { byPriority } from "../cloneset/update-priority.ts";
import { isTerminating } from "./statefulset-pod-state.ts";
import type { RollingUpdate } from "./statefulset-pod-state.ts";

export interface Place {
  /** Distance from the first ordinal, including reserved ordinals. */
  place: number;
  pod: ReadonlyPod;
}

/** `places` are ascending. */
export function orderForUpdate<P extends Place>(
  rolling: RollingUpdate | undefined,
  places: readonly P[],
  replicas: number,
  isUpdated: (pod: ReadonlyPod) => boolean,
): P[] {
  const { partition = 0, unorderedUpdate } = rolling ?? {};
  const most = replicas - partition;
  if (most <= 0) return [];
  const descending = places.toReversed();
  if (!unorderedUpdate) return descending.filter(({ place }) => place >= partition).slice(0, most);

  const isSettled = ({ pod }: P): boolean => isTerminating(pod) || isUpdated(pod);
  const waiting = descending.filter((place) => !isSettled(place));
  return [...descending.filter(isSettled), ...prioritised(waiting, unorderedUpdate.priorityStrategy)].slice(0, most);
}

function prioritised<P extends Place>(
  waiting: readonly P[],
  strategy: NonNullable<RollingUpdate["unorderedUpdate"]>["priorityStrategy"],
): readonly P[] {
  if (!strategy) return waiting;
  const placeOf = new Map(waiting.map((place) => [place.pod, place]));
  return byPriority([...placeOf.keys()], strategy).flatMap((pod) => placeOf.get(pod) ?? []);
}
