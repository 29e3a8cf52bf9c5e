/** Cleanup of a Workflow: its pods, according to `podGC`, and the Workflow itself, according to `ttlStrategy`. Pure. */
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { COMPLETED_LABEL, NODE_ID_ANNOTATION } from "./workflow-names.ts";
import type { ReadonlyWorkflow } from "./workflow-names.ts";
import { readTime } from "./node-table.ts";
import { isOver } from "./plan-argo.ts";

export interface Cleanup {
  remove: ReadonlyPod[];
  /** Finished pods that are not labeled as completed yet. */
  mark: ReadonlyPod[];
  /** Time until the Workflow is deleted; 0 if it is due, unset if it stays. */
  expiresInMs?: number;
}

export function planCleanup(workflow: ReadonlyWorkflow, pods: readonly ReadonlyPod[], nowMs: number): Cleanup {
  const strategy = workflow.spec.podGC?.strategy ?? "";
  const over = isOver(workflow.status ?? {});
  const succeeded = workflow.status?.phase === "Succeeded";
  const ended = pods.filter(
    ({ status, metadata }) =>
      !metadata.deletionTimestamp && (status?.phase === "Succeeded" || status?.phase === "Failed"),
  );
  // A pod is deleted only once its node records the result.
  const known = ended.filter((pod) => over || isRecorded(workflow, pod));
  const isRemoved = ({ status }: ReadonlyPod): boolean =>
    strategy === "OnPodCompletion" ||
    (strategy === "OnPodSuccess" && status?.phase === "Succeeded") ||
    (strategy === "OnWorkflowCompletion" && over) ||
    (strategy === "OnWorkflowSuccess" && over && succeeded);
  const expiresInMs = over ? expiry(workflow, nowMs) : undefined;
  return {
    remove: known.filter(isRemoved),
    mark: known.filter((pod) => !isRemoved(pod) && pod.metadata.labels?.[COMPLETED_LABEL] !== "true"),
    expiresInMs,
  };
}

function isRecorded({ status }: ReadonlyWorkflow, { metadata }: ReadonlyPod): boolean {
  const node = status?.nodes?.[metadata.annotations?.[NODE_ID_ANNOTATION] ?? ""];
  return node?.phase === "Succeeded" || node?.phase === "Failed" || node?.phase === "Error";
}

function expiry({ spec, status }: ReadonlyWorkflow, nowMs: number): number | undefined {
  const { secondsAfterCompletion, secondsAfterSuccess, secondsAfterFailure } = spec.ttlStrategy ?? {};
  const seconds = (status?.phase === "Succeeded" ? secondsAfterSuccess : secondsAfterFailure) ?? secondsAfterCompletion;
  const finishedMs = readTime(status?.finishedAt);
  // A Workflow that another client marked as finished without a time stays, and so does one whose rejected spec may
  // contain anything.
  return !Number.isFinite(seconds) || finishedMs === undefined
    ? undefined
    : Math.max(0, finishedMs + (seconds ?? 0) * 1000 - nowMs);
}
