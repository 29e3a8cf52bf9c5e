/** The status of an Advanced DaemonSet: a count of nodes for every stage. Pure. */
import { isReady, isUpdated, podCondition } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { IN_PLACE_READY } from "../in-place/state.ts";
import { hasReadinessGate } from "../pod/pod-ready.ts";
import { works } from "./nodes.ts";
import type { DaemonView, ReadonlyDaemonSet } from "./nodes.ts";

export type DaemonSetStatus = NonNullable<ReadonlyDaemonSet["status"]>;

/** `observedGeneration` is that of the last completed reconcile. */
export function planDaemonStatus(view: DaemonView, observedGeneration: number | undefined): DaemonSetStatus {
  const { set, nodes, hash } = view;
  const wanted = nodes.filter(({ shouldRun }) => shouldRun);
  const oldest = wanted.map(({ pods }) => pods[0]).filter((pod) => pod !== undefined);
  const ready = oldest.filter(isReady);
  const available = ready.filter((pod) => works(view, pod) && isSettledInPlace(pod)).length;
  const { collisionCount, conditions } = set.status ?? {};
  // Zeros are omitted as in Go, except for fields that it always writes.
  return {
    currentNumberScheduled: oldest.length,
    numberMisscheduled: nodes.filter(({ shouldRun, pods }) => !shouldRun && pods.length > 0).length,
    desiredNumberScheduled: wanted.length,
    numberReady: ready.length,
    observedGeneration: observedGeneration || undefined,
    updatedNumberScheduled: oldest.filter((pod) => isUpdated(set, pod, hash)).length,
    numberAvailable: available > 0 ? available : undefined,
    numberUnavailable: wanted.length > available ? wanted.length - available : undefined,
    collisionCount,
    conditions,
    updateRevision: hash,
  };
}

/** False while an in-place update is changing the containers. */
function isSettledInPlace(pod: ReadonlyPod): boolean {
  const condition = podCondition(pod, IN_PLACE_READY);
  return !hasReadinessGate(pod, IN_PLACE_READY) || condition === undefined || condition.status === "True";
}
