/**
 * Predicates of the Advanced StatefulSet controller on its set and on one of its pods. Pure; see also the general ones
 * in `kubernetes/src/pod/pod-state.ts`.
 */
import type { AdvancedStatefulSet } from "./statefulset-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { isReady, readySinceMs, REVISION_LABEL, shortHash } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { lifecycleState } from "../lifecycle/lifecycle.ts";
import { legacyShare } from "../int-or-percent.ts";
import type { IntOrPercent } from "../int-or-percent.ts";
import { parsePodName, rangeOf, reservedOf } from "./ordinals.ts";
import type { OrdinalRange } from "./ordinals.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

export type ReadonlyStatefulSet = DeepReadonly<AdvancedStatefulSet>;
export type RollingUpdate = NonNullable<NonNullable<ReadonlyStatefulSet["spec"]["updateStrategy"]>["rollingUpdate"]>;

export const replicasOf = ({ spec }: ReadonlyStatefulSet): number => spec.replicas ?? 1;
export const rollingOf = ({ spec }: ReadonlyStatefulSet): RollingUpdate | undefined =>
  spec.updateStrategy?.rollingUpdate;
export const minReadySecondsOf = (set: ReadonlyStatefulSet): number => rollingOf(set)?.minReadySeconds ?? 0;
export const isOrdered = ({ spec }: ReadonlyStatefulSet): boolean => spec.podManagementPolicy !== "Parallel";
export const revisionOf = ({ metadata }: ReadonlyPod): string => metadata.labels?.[REVISION_LABEL] ?? "";

export const startOf = ({ spec }: ReadonlyStatefulSet, gates: FeatureGates): number =>
  gates.isOn("StatefulSetStartOrdinal") ? (spec.ordinals?.start ?? 0) : 0;

export function ordinalsOf(set: ReadonlyStatefulSet, gates: FeatureGates): OrdinalRange {
  return rangeOf(startOf(set, gates), replicasOf(set), reservedOf(set.spec.reserveOrdinals));
}

/** -1 for a pod that is not named after a set. */
export const ordinalOf = ({ metadata }: ReadonlyPod): number => parsePodName(metadata.name).ordinal;

/** Whether the pod has exactly the name that this set would give it. */
export function isMember({ metadata }: ReadonlyStatefulSet, pod: ReadonlyPod): boolean {
  const { parent, ordinal } = parsePodName(pod.metadata.name);
  return parent === metadata.name && ordinal >= 0 && pod.metadata.name === `${parent}-${ordinal}`;
}

/**
 * A share of the replicas, rounded down and at least one: with none, nothing would ever progress. Undefined for an
 * invalid number.
 */
export function shareOf(set: ReadonlyStatefulSet, value: IntOrPercent): number | undefined {
  const share = legacyShare(value, replicasOf(set), "down");
  return share === undefined ? undefined : Math.max(1, share);
}

export const isTerminating = ({ metadata }: ReadonlyPod): boolean => metadata.deletionTimestamp !== undefined;
export const isRunningAndReady = (pod: ReadonlyPod): boolean => pod.status?.phase === "Running" && isReady(pod);

function isNormal(pod: ReadonlyPod): boolean {
  const state = lifecycleState(pod);
  return state === "" || state === "Normal";
}

export const isHealthy = (pod: ReadonlyPod): boolean => isNormal(pod) && isRunningAndReady(pod) && !isTerminating(pod);

/** `waitMs`: when time alone makes the pod available; 0 if it must change first. */
export function availabilityOf(
  pod: ReadonlyPod,
  minReadySeconds: number,
  nowMs: number,
): { isAvailable: boolean; waitMs: number } {
  if (!isNormal(pod) || !isRunningAndReady(pod)) return { isAvailable: false, waitMs: 0 };
  if (minReadySeconds === 0) return { isAvailable: true, waitMs: 0 };
  const since = readySinceMs(pod);
  const waitMs = since === 0 ? minReadySeconds * 1000 : since + minReadySeconds * 1000 - nowMs;
  return waitMs > 0 ? { isAvailable: false, waitMs } : { isAvailable: true, waitMs: 0 };
}

/**
 * A pod that prepares for its update can count as updated, so that the partition does not choose another in its place.
 */
export function countsAsUpdated(pod: ReadonlyPod, updateRevision: string, gates: FeatureGates): boolean {
  if (gates.isOn("PreparingUpdateAsUpdate") && lifecycleState(pod) === "PreparingUpdate") return true;
  return shortHash(revisionOf(pod)) === shortHash(updateRevision);
}
