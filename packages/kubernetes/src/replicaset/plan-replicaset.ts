/**
 * Plans the pods of a ReplicaSet to create, delete and release, and its status.
 *
 * Reads: the ReplicaSet and its pods. Writes nothing; `replicaset-controller.ts` executes the plan.
 */
import type { ReplicaSet } from "./replicaset-kind.ts";
import type { ReplicaSetStatus } from "@flotilla/apimachinery/facts/apps-v1.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { matchesLabels } from "@flotilla/apimachinery";
import { selectorOf } from "../workloads/selector.ts";
import { isActive, isAvailable, isReady } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { chooseReplicaSetVictims } from "./replicaset-victims.ts";

export type ReadonlyReplicaSet = DeepReadonly<ReplicaSet>;

/**
 * Pods created or deleted per reconcile; a set of thousands takes turns with the others. The number is Kubernetes' own.
 */
const MAX_PER_PASS = 500;

export interface ReplicasPlan {
  /** The active pods. */
  active: readonly ReadonlyPod[];
  /** Terminating, and not finished yet. */
  terminating: number;
  create: number;
  remove: readonly ReadonlyPod[];
  /** Their labels no longer match: they continue to run without an owner. */
  release: readonly ReadonlyPod[];
}

/** `siblings` are the pods of other ReplicaSets of the same owner. */
export function planReplicas(
  replicaSet: ReadonlyReplicaSet,
  pods: readonly ReadonlyPod[],
  siblings: readonly ReadonlyPod[],
): ReplicasPlan {
  const selector = selectorOf(replicaSet);
  const matching = pods.filter(({ metadata }) => matchesLabels(selector, metadata.labels));
  const release = pods.filter(
    (pod) => !pod.metadata.deletionTimestamp && !matchesLabels(selector, pod.metadata.labels),
  );
  const active = matching.filter(isActive);
  const difference = (replicaSet.spec.replicas ?? 1) - active.length;
  const remove =
    difference < 0
      ? chooseReplicaSetVictims(active, [...active, ...siblings.filter(isActive)], Math.min(-difference, MAX_PER_PASS))
      : [];
  const terminating = matching.filter(
    ({ metadata, status }) => metadata.deletionTimestamp && status?.phase !== "Succeeded" && status?.phase !== "Failed",
  ).length;
  return { active, terminating, create: Math.min(Math.max(difference, 0), MAX_PER_PASS), remove, release };
}

export interface ReplicaFailure {
  reason: "FailedCreate" | "FailedDelete";
  message: string;
}

/** `failure` is the failure of the last reconcile; `terminating` is unset for kinds that do not count those. */
export function planReplicaSetStatus(
  replicaSet: ReadonlyReplicaSet,
  active: readonly ReadonlyPod[],
  nowMs: number,
  failure?: ReplicaFailure,
  terminating?: number,
): DeepReadonly<ReplicaSetStatus> {
  const { spec, metadata, status } = replicaSet;
  const templateLabels = Object.entries(spec.template?.metadata?.labels ?? {});
  const count = (test: (pod: ReadonlyPod) => boolean): number => active.filter(test).length;
  const labelled = count((pod) => templateLabels.every(([key, value]) => pod.metadata.labels?.[key] === value));
  const ready = count(isReady);
  const available = count((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, nowMs));
  const before = status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  const others = status?.conditions?.filter(({ type }) => type !== "ReplicaFailure") ?? [];
  // The first failure stays until a reconcile succeeds; the attempts in between would only change the message.
  const conditions = failure
    ? [
        ...others,
        before ?? { type: "ReplicaFailure", status: "True", ...failure, lastTransitionTime: formatTime(nowMs) },
      ]
    : others;
  // Zeros are omitted, as in Kubernetes.
  return {
    replicas: active.length,
    fullyLabeledReplicas: labelled > 0 ? labelled : undefined,
    readyReplicas: ready > 0 ? ready : undefined,
    availableReplicas: available > 0 ? available : undefined,
    terminatingReplicas: terminating,
    observedGeneration: metadata.generation ?? 0,
    conditions: conditions.length > 0 ? conditions : undefined,
  };
}
