/** What an Advanced DaemonSet says about itself: a count of nodes for every stage. Pure. */
import { isUpdated } from "../../kubernetes/daemonset/new-pod.ts";
import { isReady, podCondition } from "../../kubernetes/pod.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { IN_PLACE_READY } from "../in-place/state.ts";
import { hasReadinessGate } from "../pod-ready.ts";
import { works } from "./nodes.ts";
import type { DaemonView, ReadonlyDaemonSet } from "./nodes.ts";

export type DaemonSetStatus = NonNullable<ReadonlyDaemonSet["status"]>;

/** `observedGeneration` is that of the last pass that came to its end. */
export function planDaemonStatus(view: DaemonView, observedGeneration: number | undefined): DaemonSetStatus {
  const { set, nodes, hash } = view;
  const wanted = nodes.filter(({ shouldRun }) => shouldRun);
  const oldest = wanted.map(({ pods }) => pods[0]).filter((pod) => pod !== undefined);
  const ready = oldest.filter(isReady);
  const available = ready.filter((pod) => works(view, pod) && isSettledInPlace(pod)).length;
  const { collisionCount, conditions } = set.status ?? {};
  // Zeros are left out, as Go leaves them out, but for those that it always writes.
  return {
    currentNumberScheduled: oldest.length,
    numberMisscheduled: nodes.filter(({ shouldRun, pods }) => !shouldRun && pods.length > 0).length,
    desiredNumberScheduled: wanted.length,
    numberReady: ready.length,
    ...(observedGeneration && { observedGeneration }),
    updatedNumberScheduled: oldest.filter((pod) => isUpdated(set, pod, hash)).length,
    ...(available > 0 && { numberAvailable: available }),
    ...(wanted.length > available && { numberUnavailable: wanted.length - available }),
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions && { conditions }),
    updateRevision: hash,
  };
}

/** False while the containers are being changed under the pod. */
function isSettledInPlace(pod: ReadonlyPod): boolean {
  const condition = podCondition(pod, IN_PLACE_READY);
  return !hasReadinessGate(pod, IN_PLACE_READY) || condition === undefined || condition.status === "True";
}
