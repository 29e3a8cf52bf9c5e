/** The status of a DaemonSet: a count of nodes for every stage. Pure. */
import type { DaemonSet } from "./daemonset-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { isAvailable, isReady } from "../pod/pod-state.ts";
import { isUpdated } from "./daemon-pod.ts";
import type { DaemonView } from "./node-fitness.ts";

export type DaemonSetStatus = NonNullable<DeepReadonly<DaemonSet>["status"]>;

export function planDaemonStatus({ set, nodes, nowMs }: DaemonView, hash: string): DaemonSetStatus {
  const wanted = nodes.filter(({ shouldRun }) => shouldRun);
  const oldest = wanted.map(({ pods }) => pods[0]).filter((pod) => pod !== undefined);
  const available = oldest.filter((pod) => isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs)).length;
  const updated = oldest.filter((pod) => isUpdated(set, pod, hash)).length;
  const { collisionCount, conditions } = set.status ?? {};
  // Zeros are omitted as in Kubernetes, except for fields that it always writes.
  return {
    currentNumberScheduled: oldest.length,
    numberMisscheduled: nodes.filter(({ shouldRun, pods }) => !shouldRun && pods.length > 0).length,
    desiredNumberScheduled: wanted.length,
    numberReady: oldest.filter(isReady).length,
    observedGeneration: set.metadata.generation ?? 0,
    updatedNumberScheduled: updated > 0 ? updated : undefined,
    numberAvailable: available > 0 ? available : undefined,
    numberUnavailable: wanted.length > available ? wanted.length - available : undefined,
    collisionCount,
    conditions,
  };
}
