/** The status of a StatefulSet. Reads the set, its pods and the plan of its revisions. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { StatefulSet } from "./statefulset-kind.ts";
import type { RevisionPlan } from "../controllerrevision/revisions.ts";
import { isAvailable, isReady } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { replicasOf, revisionOf } from "./identity.ts";
import type { ReadonlyStatefulSet } from "./identity.ts";

export type StatefulSetStatus = NonNullable<DeepReadonly<StatefulSet>["status"]>;

export function planStatefulStatus(
  set: ReadonlyStatefulSet,
  pods: readonly ReadonlyPod[],
  { current, update, collisionCount }: RevisionPlan,
  nowMs: number,
): StatefulSetStatus {
  const count = (test: (pod: ReadonlyPod) => boolean): number => pods.filter(test).length;
  const isRunningReady = (pod: ReadonlyPod): boolean => pod.status?.phase === "Running" && isReady(pod);
  const isOf =
    (revision: string) =>
    (pod: ReadonlyPod): boolean =>
      !pod.metadata.deletionTimestamp && revisionOf(pod) === revision;
  const [currentName, updateName] = [current.metadata.name, update.metadata.name];
  const ready = count(isRunningReady);
  const available = count((pod) => isRunningReady(pod) && isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs));
  const updated = count(isOf(updateName));
  const isRolling = (set.spec.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate";
  const isComplete = isRolling && [updated, ready, pods.length].every((number) => number === replicasOf(set));
  const currentReplicas = isComplete ? updated : count(isOf(currentName));
  const conditions = set.status?.conditions;
  // Zeros are omitted as in Kubernetes, except for fields that it always writes.
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: ready > 0 ? ready : undefined,
    currentReplicas: currentReplicas > 0 ? currentReplicas : undefined,
    updatedReplicas: updated > 0 ? updated : undefined,
    currentRevision: isComplete ? updateName : currentName,
    updateRevision: updateName,
    collisionCount,
    conditions,
    availableReplicas: available,
  };
}
