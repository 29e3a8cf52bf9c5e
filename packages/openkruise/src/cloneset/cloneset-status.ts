/**
 * The status of a CloneSet.
 *
 * Reads: spec, the previous status, active pods and revision names. Writes nothing; `cloneset-controller.ts` writes the
 * result if it differs from the stored one.
 */
import type { CloneSet } from "./cloneset-kind.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { timeMs } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { partitionOf } from "../int-or-percent.ts";
import { hasRevision } from "./cloneset-names.ts";
import { isPodAvailable, isPodReady } from "./cloneset-pod-state.ts";
import type { ReadonlyCloneSet } from "./cloneset-pod-state.ts";

export type CloneSetStatus = DeepReadonly<NonNullable<CloneSet["status"]>>;
type CloneSetCondition = NonNullable<CloneSetStatus["conditions"]>[number];

export const EMPTY_STATUS: CloneSetStatus = {
  replicas: 0,
  readyReplicas: 0,
  availableReplicas: 0,
  updatedReplicas: 0,
  updatedReadyReplicas: 0,
};

interface RevisionNames {
  currentRevision: string;
  updateRevision: string;
  collisionCount: number;
}

/** The value with which users disable the deadline. */
const NO_DEADLINE = 2_147_483_647;

export interface StatusInput {
  cloneSet: ReadonlyCloneSet;
  /** Only active pods. */
  pods: readonly ReadonlyPod[];
  revisions: RevisionNames;
  labelSelector: string;
  /** Failures in this reconcile. */
  failures: readonly { type: "FailedScale" | "FailedUpdate"; message: string; cause?: unknown }[];
  nowMs: number;
}

export function planStatus(input: StatusInput): CloneSetStatus {
  const { cloneSet, pods, revisions, labelSelector, failures, nowMs } = input;
  const { spec, metadata } = cloneSet;
  const replicas = spec.replicas ?? 1;
  const minReadySeconds = spec.minReadySeconds ?? 0;
  const all = countPods(pods, (): boolean => true, minReadySeconds, nowMs);
  const updated = countPods(pods, (pod) => hasRevision(pod, revisions.updateRevision), minReadySeconds, nowMs);
  const kept = partitionOf(spec.updateStrategy?.rollingUpdate?.partition, replicas);
  // The rollout is complete as soon as every pod has the new revision, ready or not.
  const finished = updated.pods === all.pods && all.pods === replicas;
  const expectedUpdated = kept === undefined ? (cloneSet.status?.expectedUpdatedReplicas ?? 0) : replicas - kept;
  const counts: CloneSetStatus = {
    observedGeneration: metadata.generation ?? 0,
    replicas: all.pods,
    readyReplicas: all.ready,
    availableReplicas: all.available,
    updatedReplicas: updated.pods,
    updatedReadyReplicas: updated.ready,
    // These two fields were added later upstream and are omitted when they are 0.
    updatedAvailableReplicas: updated.available > 0 ? updated.available : undefined,
    expectedUpdatedReplicas: expectedUpdated > 0 ? expectedUpdated : undefined,
    updateRevision: revisions.updateRevision,
    currentRevision: finished ? revisions.updateRevision : revisions.currentRevision,
    collisionCount: revisions.collisionCount,
    labelSelector,
  };
  const conditions = withFailures(withProgress(cloneSet, counts, nowMs), failures, nowMs);
  return conditions.length > 0 ? { ...counts, conditions } : counts;
}

function countPods(
  pods: readonly ReadonlyPod[],
  counts: (pod: ReadonlyPod) => boolean,
  minReadySeconds: number,
  nowMs: number,
): { pods: number; ready: number; available: number } {
  const result = { pods: 0, ready: 0, available: 0 };
  for (const pod of pods) {
    if (!counts(pod)) continue;
    result.pods++;
    if (!isPodReady(pod)) continue;
    result.ready++;
    if (isPodAvailable(pod, minReadySeconds, nowMs)) result.available++;
  }
  return result;
}

/** `Progressing` exists only with a deadline. Its time changes only with status or reason. */
function withProgress(
  { spec, status }: ReadonlyCloneSet,
  counts: CloneSetStatus,
  nowMs: number,
): readonly CloneSetCondition[] {
  const conditions = status?.conditions ?? [];
  const deadline = spec.progressDeadlineSeconds;
  if (deadline === undefined || deadline === NO_DEADLINE)
    return conditions.filter(({ type }) => type !== "Progressing");

  const before = conditions.find(({ type }) => type === "Progressing");
  const verdict = progressOf(spec, counts, before, deadline, nowMs);
  if (before?.status === verdict.status && before.reason === verdict.reason) return conditions;
  const now = formatTime(nowMs);
  const lastTransitionTime = before?.status === verdict.status ? (before.lastTransitionTime ?? now) : now;
  const progress: CloneSetCondition = { type: "Progressing", ...verdict, lastUpdateTime: now, lastTransitionTime };
  return [...conditions.filter(({ type }) => type !== "Progressing"), progress];
}

/**
 * OpenKruise never removes these conditions, so readers must check the times. Another failure of the same type is not
 * written: its message may name another pod every time, and a status that changes on every attempt would trigger the
 * next one without backoff.
 */
function withFailures(
  conditions: readonly CloneSetCondition[],
  failures: StatusInput["failures"],
  nowMs: number,
): readonly CloneSetCondition[] {
  const fresh = failures.filter(
    ({ type }) => !conditions.some((condition) => condition.type === type && condition.status === "True"),
  );
  if (fresh.length === 0) return conditions;
  const now = formatTime(nowMs);
  const kept = conditions.filter((condition) => !fresh.some(({ type }) => type === condition.type));
  return [
    ...kept,
    ...fresh.map(({ type, message }): CloneSetCondition => ({
      type,
      status: "True",
      message,
      lastTransitionTime: now,
    })),
  ];
}

interface Verdict {
  status: "True" | "False";
  reason: string;
  message: string;
}

function progressOf(
  spec: ReadonlyCloneSet["spec"],
  counts: CloneSetStatus,
  before: CloneSetCondition | undefined,
  deadlineSeconds: number,
  nowMs: number,
): Verdict {
  const replicas = spec.replicas ?? 1;
  const expected = counts.expectedUpdatedReplicas ?? 0;
  const complete =
    counts.currentRevision === counts.updateRevision &&
    counts.replicas === replicas &&
    counts.updatedReplicas === replicas &&
    (counts.updatedAvailableReplicas ?? 0) === replicas;
  if (complete) return { status: "True", reason: "CloneSetAvailable", message: "CloneSet is available" };
  if (spec.updateStrategy?.rollingUpdate?.paused)
    return { status: "True", reason: "CloneSetPaused", message: "CloneSet is paused" };
  if (expected < replicas && expected <= (counts.updatedAvailableReplicas ?? 0)) {
    return {
      status: "True",
      reason: "ProgressPartitionAvailable",
      message: "CloneSet has been paused due to partition ready",
    };
  }
  const exceeded =
    before?.reason === "ProgressDeadlineExceeded" ||
    (before !== undefined && timeMs(before.lastUpdateTime) + deadlineSeconds * 1000 < nowMs);
  if (exceeded)
    return {
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: `CloneSet revision ${counts.updateRevision} has timed out progressing`,
    };
  return { status: "True", reason: "CloneSetUpdated", message: "CloneSet is progressing" };
}

/** Milliseconds until the deadline must be checked again, or undefined if no deadline applies. */
export function deadlineInMs({ spec }: ReadonlyCloneSet, status: CloneSetStatus, nowMs: number): number | undefined {
  const progress = status.conditions?.find(({ type }) => type === "Progressing");
  if (progress?.reason !== "CloneSetUpdated" || spec.progressDeadlineSeconds === undefined) return undefined;
  // One second past the deadline, because stored times are whole seconds.
  return Math.max(0, timeMs(progress.lastUpdateTime) + (spec.progressDeadlineSeconds + 1) * 1000 - nowMs);
}
