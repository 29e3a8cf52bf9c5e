/**
 * Counts the pods of a Job so that none is counted twice or missed, even if a process crashes in between.
 *
 * A finished pod is first recorded in the status as uncounted, then loses its finalizer, then moves from the uncounted
 * list into the counts. This takes two status writes per batch, and clients may see both. Pure; `job-controller.ts`
 * writes in this order.
 */
import type { DeepReadonly } from "@flotilla/base";
import { formatTime, omitZero, defined } from "@flotilla/base";
import type { Job } from "./job-kind.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { judgeFailure } from "./failure-policy.ts";
import { countIndexes, formatIndexes, hasIndex, withIndexes } from "./indexes.ts";
import { indexOf, isFailed, isIndexed, isTracked, uidOf } from "./job-pods.ts";
import { conditionOf, makeCondition } from "./plan-job.ts";
import type { JobCondition } from "./plan-job.ts";
import type { JobView } from "./job-view.ts";

export type JobStatus = NonNullable<DeepReadonly<Job>["status"]>;

/** UIDs in a status; keeps it below 20 kB. */
const MAX_UNCOUNTED = 500;

/** The state of the Job after the pods of this reconcile were created and deleted. */
export interface Now {
  active: number;
  ready: number;
  terminating: number;
}

export interface Tracking {
  /** Written before any finalizer is removed. */
  status: JobStatus;
  /** Recorded pods whose finalizer can be removed. */
  finalize: readonly ReadonlyPod[];
  /** Complete or Failed, once everything is counted and removed. */
  final?: JobCondition;
}

export function planTracking(
  view: JobView,
  end: JobCondition | undefined,
  before: JobStatus,
  now: Now,
  nowMs: number,
): Tracking {
  const { job, pods, completions = 0 } = view;
  const isEnd = end !== undefined;
  const uncounted = {
    succeeded: [...(before.uncountedTerminatedPods?.succeeded ?? [])],
    failed: [...(before.uncountedTerminatedPods?.failed ?? [])],
  };
  const known = new Set([...uncounted.succeeded, ...uncounted.failed]);
  const newIndexes: number[] = [];
  const finalize: ReadonlyPod[] = [];
  let isFull = false;
  const tracked = pods.filter(isTracked);
  if (isIndexed(job)) tracked.sort((a, b) => (indexOf(a, completions) ?? -1) - (indexOf(b, completions) ?? -1));

  for (const pod of tracked) {
    const index = indexOf(pod, completions);
    const failed = isFailed(pod, job);
    const succeeded = pod.status?.phase === "Succeeded";
    const isHeld = failed && index !== undefined && view.waiting.get(index) === pod;
    if (!job.metadata.deletionTimestamp && !isEnd && !succeeded && (!failed || isHeld)) continue;
    finalize.push(pod);
    if (succeeded && !uncounted.failed.includes(uidOf(pod))) {
      // The index itself records that it was counted.
      if (isIndexed(job)) {
        if (index !== undefined && !hasIndex(view.succeededBefore, index)) newIndexes.push(index);
      } else if (!known.has(uidOf(pod))) uncounted.succeeded.push(uidOf(pod));
    } else if (
      (failed || (isEnd && end.type !== "SuccessCriteriaMet")) &&
      !known.has(uidOf(pod)) &&
      (!isIndexed(job) || index !== undefined)
    ) {
      // A failing Job counts every pod that has not succeeded as failed.
      if (judgeFailure(job.spec?.podFailurePolicy, pod).counts) uncounted.failed.push(uidOf(pod));
    }
    isFull = newIndexes.length + uncounted.succeeded.length + uncounted.failed.length >= MAX_UNCOUNTED;
    if (isFull) break;
  }

  const reported =
    end && (end.type === "FailureTarget" || (end.type === "SuccessCriteriaMet" && !conditionOf(job, end.type)));
  const conditions = reported ? [...(before.conditions ?? []), end] : before.conditions;
  const status: JobStatus = {
    ...withoutIndexes(withoutCounts(before)),
    ...omitZero({ conditions }),
    ...counts({
      active: now.active,
      succeeded: isIndexed(job)
        ? countIndexes(withIndexes(view.succeededIndexes, newIndexes))
        : (before.succeeded ?? 0),
      failed: before.failed ?? 0,
    }),
    ready: now.ready,
    terminating: now.terminating,
    uncountedTerminatedPods: uncountedOf(uncounted),
    ...indexesOf(view, newIndexes),
  };
  const final =
    end &&
    makeCondition(
      end.type === "SuccessCriteriaMet" ? "Complete" : "Failed",
      end.reason ?? "",
      end.message ?? "",
      nowMs,
    );
  return { status, finalize, final: final && !isFull ? final : undefined };
}

/** The status after the finalizers are removed: pods without one move into the counts, and the Job may have ended. */
export function planCounted(
  status: JobStatus,
  { final }: Tracking,
  stillTracked: ReadonlySet<string>,
  nowMs: number,
): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const left = {
    succeeded: succeeded.filter((uid) => stillTracked.has(uid)),
    failed: failed.filter((uid) => stillTracked.has(uid)),
  };
  const counted: JobStatus = {
    ...withoutCounts(status),
    ...counts({
      active: status.active ?? 0,
      succeeded: (status.succeeded ?? 0) + succeeded.length - left.succeeded.length,
      failed: (status.failed ?? 0) + failed.length - left.failed.length,
    }),
    uncountedTerminatedPods: uncountedOf(left),
  };
  if (!final || left.succeeded.length + left.failed.length > 0 || (status.terminating ?? 0) > 0) return counted;
  const conditions = [...(counted.conditions ?? []).filter(({ type }) => type !== final.type), final];
  return {
    ...counted,
    conditions,
    ...defined({ completionTime: final.type === "Complete" ? formatTime(nowMs) : undefined }),
  };
}

function indexesOf(
  { job, succeededIndexes, failedIndexes }: JobView,
  newIndexes: readonly number[],
): Pick<JobStatus, "completedIndexes" | "failedIndexes"> {
  if (!isIndexed(job)) return {};
  const completedIndexes = formatIndexes(withIndexes(succeededIndexes, newIndexes));
  return {
    completedIndexes: completedIndexes || undefined,
    failedIndexes: failedIndexes ? formatIndexes(failedIndexes) : undefined,
  };
}

function uncountedOf({
  succeeded,
  failed,
}: {
  succeeded: readonly string[];
  failed: readonly string[];
}): NonNullable<JobStatus["uncountedTerminatedPods"]> {
  return { succeeded: succeeded.length > 0 ? succeeded : undefined, failed: failed.length > 0 ? failed : undefined };
}

/** Zeros are omitted, as in Kubernetes. */
function counts(values: { active: number; succeeded: number; failed: number }): Partial<JobStatus> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value > 0));
}

function withoutCounts({ active: _active, succeeded: _succeeded, failed: _failed, ...rest }: JobStatus): JobStatus {
  return rest;
}

function withoutIndexes({ completedIndexes: _completed, failedIndexes: _failed, ...rest }: JobStatus): JobStatus {
  return rest;
}
