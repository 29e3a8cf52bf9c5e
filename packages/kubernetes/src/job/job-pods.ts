/** Predicates of a Job on its pods: their index, whether they are already counted, when and how they failed. */
import type { Job } from "./job-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { podCondition, timeMs } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";

export type ReadonlyJob = DeepReadonly<Job>;

/**
 * While a pod has this finalizer, the Job has not counted it: a pod that is deleted in the meantime waits to be
 * counted.
 */
export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
export const INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index";
export const FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-failure-count";
export const IGNORED_FAILURES_ANNOTATION = "batch.kubernetes.io/job-index-ignored-failure-count";

export const uidOf = ({ metadata }: ReadonlyPod): string => metadata.uid ?? "";
export const isTracked = ({ metadata }: ReadonlyPod): boolean =>
  metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;
export const isIndexed = ({ spec }: ReadonlyJob): boolean => spec?.completionMode === "Indexed";
export const isSuspended = ({ spec }: ReadonlyJob): boolean => spec?.suspend === true;
/** The retry limit per index, if indexes fail independently. */
export const indexLimitOf = (job: ReadonlyJob): number | undefined =>
  isIndexed(job) ? job.spec?.backoffLimitPerIndex : undefined;

/** Terminating, and neither succeeded nor failed yet. */
export function isTerminating({ metadata, status }: ReadonlyPod): boolean {
  return metadata.deletionTimestamp !== undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

/** A terminating pod is replaced only when it has ended. With a failure policy its failure must be known first. */
export function replacesOnlyFailed({ spec }: ReadonlyJob): boolean {
  return spec?.podReplacementPolicy === "Failed" || spec?.podFailurePolicy !== undefined;
}

/** Deleted pods count as failed, because no kubelet may be left to report it. */
export function isFailed(pod: ReadonlyPod, job: ReadonlyJob): boolean {
  if (pod.status?.phase === "Failed") return true;
  return !replacesOnlyFailed(job) && isTerminating(pod);
}

/** The index of the pod, if it is valid for the Job. */
export function indexOf({ metadata }: ReadonlyPod, completions: number): number | undefined {
  const text = metadata.annotations?.[INDEX_ANNOTATION];
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined;
  const index = Number(text);
  return index < completions ? index : undefined;
}

/** The previous failures of this pod's index; 0 if the annotation is invalid. */
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

/** When the pod ended: according to the last container, or the condition Ready, or its deletion. */
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
  // Sidecars end after the other containers.
  const last = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)) ?? []),
  ];
  const times = last.map(({ state }) => timeMs(state?.terminated?.finishedAt));
  return times.length > 0 && times.every((time) => time > 0) ? Math.max(...times) : undefined;
}
