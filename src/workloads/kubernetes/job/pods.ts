/** What a Job asks about its pods: which index they are for, whether they count already, when and how they failed. */
import type { Job } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { podCondition, timeMs } from "../pod.ts";
import type { ReadonlyPod } from "../pod.ts";

export type ReadonlyJob = DeepReadonly<Job>;

/** While a pod carries it, the Job has not counted it: a pod that is deleted meanwhile waits to be counted. */
export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
export const INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index";
export const FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-failure-count";
export const IGNORED_FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-ignored-failure-count";

export const uidOf = ({ metadata }: ReadonlyPod): string => metadata.uid ?? "";
export const isTracked = ({ metadata }: ReadonlyPod): boolean =>
  metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;
export const isIndexed = ({ spec }: ReadonlyJob): boolean => spec?.completionMode === "Indexed";
export const isSuspended = ({ spec }: ReadonlyJob): boolean => spec?.suspend === true;
/** The indexes fail one by one, and each may be tried so often. */
export const indexLimitOf = (job: ReadonlyJob): number | undefined =>
  isIndexed(job) ? job.spec?.backoffLimitPerIndex : undefined;

/** On its way out, and neither succeeded nor failed yet. */
export function isTerminating({ metadata, status }: ReadonlyPod): boolean {
  return metadata.deletionTimestamp !== undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

/**
 * A pod that is being deleted is replaced only when it has really ended. With a failure policy it must first say how it
 * failed.
 */
export function replacesOnlyFailed({ spec }: ReadonlyJob): boolean {
  return spec?.podReplacementPolicy === "Failed" || spec?.podFailurePolicy !== undefined;
}

/** Deleted pods count as failed, because nobody may be left to say so. */
export function isFailed(pod: ReadonlyPod, job: ReadonlyJob): boolean {
  if (pod.status?.phase === "Failed") return true;
  return !replacesOnlyFailed(job) && isTerminating(pod);
}

/** The index that the pod is for, if it has one that the Job knows. */
export function indexOf({ metadata }: ReadonlyPod, completions: number): number | undefined {
  const text = metadata.annotations?.[INDEX_ANNOTATION];
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined;
  const index = Number(text);
  return index < completions ? index : undefined;
}

/** How often the index of this pod had failed before; 0 when a user made nonsense of the annotation. */
export function failuresBefore({ metadata }: ReadonlyPod): { counted: number; ignored: number } {
  return {
    counted: readCount(metadata.annotations?.[FAILURES_ANNOTATION]),
    ignored: readCount(metadata.annotations?.[IGNORED_FAILURES_ANNOTATION]),
  };
}

function readCount(text: string | undefined): number {
  const count = text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : 0;
  return count <= 2_147_483_647 ? count : 0;
}

/** When the pod ended: the last container says it, or the condition Ready, or its deletion. */
export function finishedMs(pod: ReadonlyPod): number {
  const containers = finishedContainersMs(pod);
  if (containers !== undefined) return containers;
  const ready = podCondition(pod, "Ready");
  if (ready?.status === "False" && ready.lastTransitionTime) return timeMs(ready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata;
  return deletionTimestamp ? timeMs(deletionTimestamp) - deletionGracePeriodSeconds * 1000 : timeMs(creationTimestamp);
}

function finishedContainersMs({ spec, status }: ReadonlyPod): number | undefined {
  const sidecars = new Set(
    spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  );
  // Sidecars end after the containers that they serve.
  const last = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)) ?? []),
  ];
  const times = last.map(({ state }) => timeMs(state?.terminated?.finishedAt));
  return times.length > 0 && times.every((time) => time > 0) ? Math.max(...times) : undefined;
}
