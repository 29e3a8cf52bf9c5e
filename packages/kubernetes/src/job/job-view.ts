/**
 * A snapshot of a Job and its pods: what is counted, what has ended since, which indexes are done.
 *
 * Pure. From it, `plan-job.ts` decides whether the Job has ended and which pods it needs, and `job-tracking.ts`
 * computes the status.
 */
import { isActive } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { nextBackoff } from "./backoff.ts";
import type { Backoff } from "./backoff.ts";
import { judgeFailure } from "./failure-policy.ts";
import { NO_INDEXES, countIndexes, hasIndex, parseIndexes, withIndexes } from "./indexes.ts";
import type { Indexes } from "./indexes.ts";
import {
  failuresBefore,
  finishedMs,
  indexLimitOf,
  indexOf,
  isFailed,
  isIndexed,
  isTracked,
  uidOf,
} from "./job-pods.ts";
import type { ReadonlyJob } from "./job-pods.ts";

export interface JobView {
  job: ReadonlyJob;
  pods: readonly ReadonlyPod[];
  active: readonly ReadonlyPod[];
  completions: number | undefined;
  /** Including pods that were not counted before. */
  succeeded: number;
  failed: number;
  succeededBefore: Indexes;
  succeededIndexes: Indexes;
  /** Unset if the Job has no limit per index. */
  failedIndexes?: Indexes;
  /**
   * The last failed pod of an index that waits for a retry: it stays until the next one has taken over its failure
   * count.
   */
  waiting: ReadonlyMap<number, ReadonlyPod>;
  backoff: Backoff;
}

export function viewJob(job: ReadonlyJob, pods: readonly ReadonlyPod[], backoff: Backoff): JobView {
  const { spec, status } = job;
  const completions = spec?.completions;
  const indexed = isIndexed(job);
  const uncounted = {
    succeeded: new Set(status?.uncountedTerminatedPods?.succeeded),
    failed: new Set(status?.uncountedTerminatedPods?.failed),
  };
  const isValid = (pod: ReadonlyPod): boolean =>
    isTracked(pod) && (!indexed || indexOf(pod, completions ?? 0) !== undefined);
  const newSucceeded = pods.filter(
    (pod) => pod.status?.phase === "Succeeded" && isValid(pod) && !uncounted.succeeded.has(uidOf(pod)),
  );
  const newFailed = pods.filter((pod) => isFailed(pod, job) && isValid(pod) && !uncounted.failed.has(uidOf(pod)));
  const counted = newFailed.filter((pod) => judgeFailure(spec?.podFailurePolicy, pod).counts);
  const active = pods.filter(isActive);
  const common = {
    job,
    pods,
    active,
    completions,
    failed: (status?.failed ?? 0) + counted.length + uncounted.failed.size,
    backoff: nextBackoff(backoff, newSucceeded, newFailed),
  };
  if (!indexed || completions === undefined) {
    return {
      ...common,
      succeeded: (status?.succeeded ?? 0) + newSucceeded.length + uncounted.succeeded.size,
      succeededBefore: NO_INDEXES,
      succeededIndexes: NO_INDEXES,
      waiting: new Map(),
    };
  }
  const indexesOf = (some: readonly ReadonlyPod[]): number[] =>
    some.map((pod) => indexOf(pod, completions)).filter((index) => index !== undefined);
  const succeededBefore = parseIndexes(status?.completedIndexes, completions);
  const succeededIndexes = withIndexes(
    succeededBefore,
    indexesOf(pods.filter((pod) => pod.status?.phase === "Succeeded" && isTracked(pod))),
  );
  const indexedView = { ...common, succeeded: countIndexes(succeededIndexes), succeededBefore, succeededIndexes };
  const limit = indexLimitOf(job);
  if (limit === undefined) return { ...indexedView, waiting: new Map() };
  const failedIndexes = withIndexes(
    parseIndexes(status?.failedIndexes, completions),
    indexesOf(pods.filter((pod) => isTracked(pod) && failsIndex(pod, job, limit))),
  );
  const settled = (index: number): boolean => hasIndex(succeededIndexes, index) || hasIndex(failedIndexes, index);
  const busy = new Set(indexesOf(active));
  const waiting = lastOfEach(
    pods.filter((pod) => isValid(pod) && isFailed(pod, job)),
    completions,
    (index) => !settled(index) && !busy.has(index),
  );
  return { ...indexedView, failedIndexes, waiting };
}

function failsIndex(pod: ReadonlyPod, job: ReadonlyJob, limit: number): boolean {
  if (!isFailed(pod, job)) return false;
  const verdict = judgeFailure(job.spec?.podFailurePolicy, pod);
  return verdict.failsIndex || (verdict.counts && failuresBefore(pod).counted >= limit);
}

function lastOfEach(
  failed: readonly ReadonlyPod[],
  completions: number,
  isOpen: (index: number) => boolean,
): ReadonlyMap<number, ReadonlyPod> {
  const last = new Map<number, ReadonlyPod>();
  const failures = (pod: ReadonlyPod): number => failuresBefore(pod).counted + failuresBefore(pod).ignored;
  for (const pod of failed) {
    const index = indexOf(pod, completions);
    if (index === undefined || !isOpen(index)) continue;
    const known = last.get(index);
    if (!known || (failures(known) <= failures(pod) && finishedMs(pod) >= finishedMs(known))) last.set(index, pod);
  }
  return last;
}
