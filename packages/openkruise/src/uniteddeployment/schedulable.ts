/**
 * Whether pods find nodes in a subset, as in the condition `Schedulable` of its status.
 *
 * Without reserved pods, a pod that is pending for too long marks its subset for a while; with them, a subset is marked
 * as long as it has any. Pure: the result is stored before replicas are moved because of it.
 */
import type { UnitedDeployment } from "./uniteddeployment-kind.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { isReady, podCondition, timeMs } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { schedulingTimeLeftMs } from "../pod/scheduling-time.ts";
import {
  DEPLOYMENT_REVISION_LABEL,
  RESERVED_LABEL,
  avoidanceMs,
  schedulingTimeoutMs,
} from "./uniteddeployment-names.ts";
import type { ReadonlyUnitedDeployment } from "./uniteddeployment-names.ts";
import { SCHEDULABLE } from "./subset.ts";
import type { Schedulability, SubsetView } from "./subset.ts";

export type SubsetStatus = DeepReadonly<NonNullable<NonNullable<UnitedDeployment["status"]>["subsetStatuses"]>[number]>;

const CONDITION = "Schedulable";

export interface Finding {
  schedulability: Schedulability;
  /** With the current condition. */
  status: SubsetStatus;
  /** Time until the next reconcile; unset if an event will trigger it. */
  againInMs?: number;
  /** Pods with a wrong reserved label, and its desired value. */
  relabel: { pod: ReadonlyPod; reserved: boolean }[];
}

function isMarkedUnschedulable({ conditions }: SubsetStatus): boolean {
  return conditions?.find(({ type }) => type === CONDITION)?.status === "False";
}

/** The status with the condition set; the same object if it already has this status and reason. */
export function withSchedulable(
  subset: SubsetStatus,
  isSchedulable: boolean,
  reason: string,
  message: string,
  nowMs: number,
): SubsetStatus {
  const status = isSchedulable ? "True" : "False";
  const conditions = subset.conditions ?? [];
  const known = conditions.findIndex(({ type }) => type === CONDITION);
  if (conditions[known]?.status === status && conditions[known]?.reason === reason) return subset;
  const condition = { type: CONDITION, status, lastTransitionTime: formatTime(nowMs), reason, message };
  return { ...subset, conditions: known < 0 ? [...conditions, condition] : conditions.with(known, condition) };
}

/** The minimum of optional times. */
function soonest(...times: readonly (number | undefined)[]): number | undefined {
  const ahead = times.filter((time): time is number => time !== undefined && time > 0);
  return ahead.length > 0 ? Math.min(...ahead) : undefined;
}

/** Pods that find no node are abandoned: their subset is avoided for a while. */
export function findSchedulability(
  deployment: ReadonlyUnitedDeployment,
  subset: SubsetView,
  before: SubsetStatus,
  nowMs: number,
): Finding {
  const avoidMs = avoidanceMs(deployment);
  let status = before;
  let unschedulable = false;
  let againInMs: number | undefined;
  if (isMarkedUnschedulable(before)) {
    const recoverMs = timeMs(before.conditions?.find(({ type }) => type === CONDITION)?.lastTransitionTime) + avoidMs;
    unschedulable = nowMs < recoverMs;
    if (unschedulable) againInMs = recoverMs - nowMs;
    else
      status = withSchedulable(
        status,
        true,
        "recover",
        `unschedulable subset recovered after ${(avoidMs / 1000).toFixed(6)} seconds`,
        nowMs,
      );
  }
  let pendingPods = 0;
  if (subset.readyReplicas < subset.replicas) {
    for (const pod of subset.pods) {
      const leftMs = schedulingTimeLeftMs(pod, schedulingTimeoutMs(deployment), nowMs);
      if (leftMs !== undefined && leftMs < 0) pendingPods++;
      else againInMs = soonest(againInMs, leftMs);
    }
    if (pendingPods > 0) {
      unschedulable = true;
      status = withSchedulable(status, false, "reschedule", "timeout pending pods found", nowMs);
      againInMs = soonest(againInMs, avoidMs);
    }
  }
  return {
    schedulability: { ...SCHEDULABLE, unschedulable, pendingPods },
    status,
    againInMs,
    relabel: [],
  };
}

/**
 * Pods that find no node are kept as reserved: others run in their place until they have been ready for long enough.
 */
export function findReserved(
  deployment: ReadonlyUnitedDeployment,
  subset: SubsetView,
  before: SubsetStatus,
  nowMs: number,
): Finding {
  const avoidMs = avoidanceMs(deployment);
  const markedAsUnschedulable = isMarkedUnschedulable(before);
  const relabel: Finding["relabel"] = [];
  let reservedPods = 0;
  let updateTimeoutPods = 0;
  let againInMs: number | undefined;
  for (const pod of subset.pods) {
    const label = pod.metadata.labels?.[RESERVED_LABEL];
    if (markedAsUnschedulable && label === undefined) {
      // Created in an unschedulable subset: it counts only once it is known to run.
      reservedPods++;
      relabel.push({ pod, reserved: true });
      if (againInMs !== undefined) againInMs = Math.max(againInMs, avoidMs);
      continue;
    }
    const verdict =
      label === "true" ? stillReserved(pod, subset, avoidMs, nowMs) : newlyReserved(deployment, pod, subset, nowMs);
    if (verdict.reserved) reservedPods++;
    if (verdict.updateTimeout) updateTimeoutPods++;
    againInMs = soonest(againInMs, verdict.againInMs);
    if (label === undefined || verdict.reserved !== (label === "true"))
      relabel.push({ pod, reserved: verdict.reserved });
  }
  const unschedulable = reservedPods > 0;
  const status = withSchedulable(
    before,
    !unschedulable,
    "reschedule",
    unschedulable ? "reserved pods found" : "no reserved pods",
    nowMs,
  );
  return {
    schedulability: { ...SCHEDULABLE, unschedulable, markedAsUnschedulable, reservedPods, updateTimeoutPods },
    status,
    againInMs,
    relabel,
  };
}

/**
 * A subset that just recovered and gets more replicas is marked again, so that its new pods start as reserved and do
 * not replace others too early.
 */
export function afterAllocation(
  { schedulability, status }: Finding,
  { specReplicas }: SubsetView,
  replicas: number,
  nowMs: number,
): SubsetStatus {
  const isRecovering = !schedulability.unschedulable && schedulability.markedAsUnschedulable && replicas > specReplicas;
  return isRecovering ? withSchedulable(status, false, "reschedule", "subset just recovered scaled up", nowMs) : status;
}

interface Verdict {
  reserved: boolean;
  updateTimeout?: boolean;
  againInMs?: number | undefined;
}

function stillReserved(pod: ReadonlyPod, { updatedRevision }: SubsetView, avoidMs: number, nowMs: number): Verdict {
  const isUpdated = (pod.metadata.labels?.[DEPLOYMENT_REVISION_LABEL] ?? "") === updatedRevision;
  if (pod.status?.phase === "Running" && isUpdated && isReady(pod)) {
    const trustedMs = timeMs(podCondition(pod, "Ready")?.lastTransitionTime) + avoidMs;
    return trustedMs < nowMs ? { reserved: false } : { reserved: true, againInMs: trustedMs - nowMs };
  }
  return { reserved: true, againInMs: avoidMs };
}

function newlyReserved(
  deployment: ReadonlyUnitedDeployment,
  pod: ReadonlyPod,
  { updatedRevision }: SubsetView,
  nowMs: number,
): Verdict {
  const isUpdated = (pod.metadata.labels?.[DEPLOYMENT_REVISION_LABEL] ?? "") === updatedRevision;
  const leftMs = isUpdated
    ? schedulingTimeLeftMs(pod, schedulingTimeoutMs(deployment), nowMs)
    : updateLeftMs(deployment, pod, nowMs);
  if (leftMs === undefined || leftMs >= 0) return { reserved: false, againInMs: leftMs };
  return { reserved: true, updateTimeout: !isUpdated, againInMs: avoidanceMs(deployment) };
}

/** How long the update may continue before pods of the old revision count as stuck. */
function updateLeftMs(
  deployment: ReadonlyUnitedDeployment,
  { metadata }: ReadonlyPod,
  nowMs: number,
): number | undefined {
  if (metadata.deletionTimestamp) return undefined;
  const since = deployment.status?.conditions?.find(
    ({ type }) => type === "UnitedDeploymentUpdated",
  )?.lastTransitionTime;
  return timeMs(since) + schedulingTimeoutMs(deployment) - nowMs;
}
