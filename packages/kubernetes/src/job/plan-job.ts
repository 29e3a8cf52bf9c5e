/**
 * The decisions of a Job: whether it has ended, and which pods to create or delete.
 *
 * An end has two conditions, as in upstream: FailureTarget or SuccessCriteriaMet as soon as it is certain, Failed or
 * Complete when the last pod has ended and is counted. Reads a `JobView`; writes nothing, `job-controller.ts` executes
 * the plan.
 */
import { formatTime, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Job } from "./job-kind.ts";
import { activePodsOrder, timeMs } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { backoffLeftMs, indexBackoffLeftMs } from "./backoff.ts";
import { judgeFailure } from "./failure-policy.ts";
import { countIndexes, firstMissing, unite, withIndexes } from "./indexes.ts";
import {
  indexLimitOf,
  indexOf,
  isFailed,
  isIndexed,
  isSuspended,
  isTerminating,
  replacesOnlyFailed,
} from "./job-pods.ts";
import type { ReadonlyJob } from "./job-pods.ts";
import { metSuccessPolicy } from "./success-policy.ts";
import type { JobView } from "./job-view.ts";

export type JobCondition = NonNullable<NonNullable<DeepReadonly<Job>["status"]>["conditions"]>[number];

/** Pods created or deleted per reconcile, as in upstream, so that other Jobs get their turn. */
const MAX_PER_PASS = 500;

export interface JobPlan {
  /** SuccessCriteriaMet, FailureTarget, or Failed if the target was set before. */
  end?: JobCondition;
  /** One pod per entry; `index` is set for indexed Jobs. */
  create: readonly { index?: number }[];
  remove: readonly ReadonlyPod[];
  /**
   * Pods of an ending Job are counted before they are released; others are released first, because they never count.
   */
  removeCounts: boolean;
  /** Time until the next reconcile if nothing happens. */
  againInMs?: number;
}

export function makeCondition(
  type: string,
  reason: string,
  message: string,
  nowMs: number,
  status = "True",
): JobCondition {
  const now = formatTime(nowMs);
  return {
    type,
    status,
    lastProbeTime: now,
    lastTransitionTime: now,
    reason: reason || undefined,
    message: message || undefined,
  };
}

export function conditionOf({ status }: ReadonlyJob, type: string): JobCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
}

export const isFinished = (job: ReadonlyJob): boolean =>
  (conditionOf(job, "Complete") ?? conditionOf(job, "Failed")) !== undefined;

export function planJob(view: JobView, nowMs: number): JobPlan {
  const { job, active } = view;
  const end = endOf(view, nowMs);
  if (end) return { end, create: [], remove: active, removeCounts: true };
  const deadlineInMs = deadlineLeftMs(job, nowMs);
  const again = deadlineInMs === undefined ? {} : { againInMs: deadlineInMs };
  const nothing: JobPlan = { create: [], remove: [], removeCounts: false, ...again };
  if (job.metadata.deletionTimestamp) return nothing;
  if (isSuspended(job)) return { ...nothing, remove: active };
  const { remove, create, backoffMs } = planPods(view, nowMs);
  const waits = [deadlineInMs, backoffMs].filter((wait) => wait !== undefined);
  return { ...nothing, remove, create, ...defined({ againInMs: waits.length > 0 ? Math.min(...waits) : undefined }) };
}

/**
 * Complete once enough pods have succeeded and none is running. `active` is the number of pods after this reconcile.
 */
export function completion(
  { completions, succeeded }: JobView,
  active: number,
  nowMs: number,
): JobCondition | undefined {
  const isEnough = completions === undefined ? succeeded > 0 : succeeded >= completions;
  return isEnough && active === 0
    ? makeCondition("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods", nowMs)
    : undefined;
}

/** An existing condition is kept; then failures are checked, and then the success policy. */
function endOf(view: JobView, nowMs: number): JobCondition | undefined {
  const { job, pods, failed, failedIndexes, succeededIndexes, completions = 0 } = view;
  const { spec } = job;
  const met = conditionOf(job, "SuccessCriteriaMet");
  if (met) return met;
  const target = conditionOf(job, "FailureTarget");
  if (target) return makeCondition("Failed", target.reason ?? "", target.message ?? "", nowMs);
  const fails = (reason: string, message: string): JobCondition =>
    makeCondition("FailureTarget", reason, message, nowMs);

  for (const pod of spec?.podFailurePolicy ? pods : []) {
    const { failsJob } = isFailed(pod, job) ? judgeFailure(spec?.podFailurePolicy, pod) : {};
    if (failsJob !== undefined) return fails("PodFailurePolicy", failsJob);
  }
  if (failed > backoffLimitOf(job) || hasTooManyRestarts(view))
    return fails("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  if ((deadlineLeftMs(job, nowMs) ?? 1) <= 0)
    return fails("DeadlineExceeded", "Job was active longer than specified deadline");
  if (failedIndexes) {
    const count = countIndexes(failedIndexes);
    if (spec?.maxFailedIndexes !== undefined && count > spec.maxFailedIndexes)
      return fails("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
    if (count > 0 && count + countIndexes(succeededIndexes) >= completions)
      return fails("FailedIndexes", "Job has failed indexes");
  }
  const policy = metSuccessPolicy(job, succeededIndexes);
  return policy === undefined ? undefined : makeCondition("SuccessCriteriaMet", "SuccessPolicy", policy, nowMs);
}

/** The API server's default. */
const DEFAULT_BACKOFF_LIMIT = 6;
const backoffLimitOf = ({ spec }: ReadonlyJob): number => spec?.backoffLimit ?? DEFAULT_BACKOFF_LIMIT;

/** With restartPolicy OnFailure containers fail inside their pod, and their restarts count. */
function hasTooManyRestarts({ job, pods }: JobView): boolean {
  if (job.spec?.template?.spec?.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== "Running" && status?.phase !== "Pending") continue;
    for (const { restartCount } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      restarts += restartCount ?? 0;
  }
  const limit = backoffLimitOf(job);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Milliseconds until activeDeadlineSeconds; undefined without a deadline. */
function deadlineLeftMs(job: ReadonlyJob, nowMs: number): number | undefined {
  const { spec, status } = job;
  if (spec?.activeDeadlineSeconds === undefined || isSuspended(job)) return undefined;
  return timeMs(status?.startTime ?? formatTime(nowMs)) + spec.activeDeadlineSeconds * 1000 - nowMs;
}

function planPods(
  view: JobView,
  nowMs: number,
): { create: { index?: number }[]; remove: readonly ReadonlyPod[]; backoffMs?: number } {
  const { job, pods, active, completions, succeeded } = view;
  const parallelism = job.spec?.parallelism ?? 1;
  // Without completions the first success ends the Job; running pods continue to run.
  const wanted =
    completions === undefined
      ? succeeded > 0
        ? active.length
        : parallelism
      : Math.max(0, Math.min(parallelism, completions - succeeded));
  const remove = surplus(view, Math.max(0, active.length - wanted));
  // Deleting and creating in one reconcile could create a pod for an index that is not free yet.
  if (remove.length > 0) return { create: [], remove: remove.slice(0, MAX_PER_PASS) };
  const terminating = replacesOnlyFailed(job) ? pods.filter(isTerminating).length : 0;
  const missing = Math.min(wanted - terminating - active.length, MAX_PER_PASS);
  if (missing <= 0) return { create: [], remove };
  const perIndex = indexLimitOf(job) !== undefined;
  const backoffMs = perIndex ? 0 : backoffLeftMs(view.backoff, nowMs);
  if (backoffMs > 0) return { create: [], remove, backoffMs };
  if (!isIndexed(job)) return { create: Array.from({ length: missing }, () => ({})), remove };

  const free = freeIndexes(view, missing);
  const waits = perIndex ? free.map((index) => indexBackoffLeftMs(view.waiting.get(index), nowMs)) : [];
  const ready = free.filter((_, place) => (waits[place] ?? 0) === 0);
  const later = waits.filter((wait) => wait > 0);
  return {
    create: ready.map((index) => ({ index })),
    remove,
    backoffMs: later.length > 0 ? Math.min(...later) : undefined,
  };
}

function freeIndexes(view: JobView, count: number): number[] {
  const { job, pods, active, completions = 0, succeededIndexes, failedIndexes } = view;
  const taken = replacesOnlyFailed(job) ? [...active, ...pods.filter(isTerminating)] : active;
  const busy = withIndexes(
    succeededIndexes,
    taken.map((pod) => indexOf(pod, completions)).filter((index) => index !== undefined),
  );
  return firstMissing(failedIndexes ? unite(busy, failedIndexes) : busy, count, completions);
}

/** At least this many; for an indexed Job also pods without their own index. */
function surplus({ job, active, completions = 0 }: JobView, atLeast: number): ReadonlyPod[] {
  const remove: ReadonlyPod[] = [];
  let left = [...active].toSorted(activePodsOrder);
  if (isIndexed(job)) {
    const keepers = new Map<number, ReadonlyPod>();
    // The most useful pod of each index comes last and stays.
    for (const pod of left) {
      const index = indexOf(pod, completions);
      const before = index === undefined ? pod : keepers.get(index);
      if (before) remove.push(before);
      if (index !== undefined) keepers.set(index, pod);
    }
    const kept = new Set(keepers.values());
    left = left.filter((pod) => kept.has(pod));
  }
  return remove.length < atLeast ? [...remove, ...left.slice(0, atLeast - remove.length)] : remove;
}
