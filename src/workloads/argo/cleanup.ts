/** What is taken away of a Workflow: its pods, as `podGC` says, and in the end itself, as `ttlStrategy` says. Pure. */
import type { ReadonlyPod } from "../kubernetes/pod.ts";
import { COMPLETED_LABEL, NODE_ID_ANNOTATION } from "./names.ts";
import type { ReadonlyWorkflow } from "./names.ts";
import { readTime } from "./node-table.ts";
import { isOver } from "./plan.ts";

export interface Cleanup {
  remove: ReadonlyPod[];
  /** Pods that have ended and do not say so yet. */
  mark: ReadonlyPod[];
  /** Until the Workflow goes; 0 when it should be gone, unset when it stays. */
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
  // A pod goes only once its node tells how it ended.
  const known = ended.filter((pod) => over || isTold(workflow, pod));
  const goes = ({ status }: ReadonlyPod): boolean =>
    strategy === "OnPodCompletion" ||
    (strategy === "OnPodSuccess" && status?.phase === "Succeeded") ||
    (strategy === "OnWorkflowCompletion" && over) ||
    (strategy === "OnWorkflowSuccess" && over && succeeded);
  const expiresInMs = over ? expiry(workflow, nowMs) : undefined;
  return {
    remove: known.filter(goes),
    mark: known.filter((pod) => !goes(pod) && pod.metadata.labels?.[COMPLETED_LABEL] !== "true"),
    ...(expiresInMs !== undefined && { expiresInMs }),
  };
}

function isTold({ status }: ReadonlyWorkflow, { metadata }: ReadonlyPod): boolean {
  const node = status?.nodes?.[metadata.annotations?.[NODE_ID_ANNOTATION] ?? ""];
  return node?.phase === "Succeeded" || node?.phase === "Failed" || node?.phase === "Error";
}

function expiry({ spec, status }: ReadonlyWorkflow, nowMs: number): number | undefined {
  const { secondsAfterCompletion, secondsAfterSuccess, secondsAfterFailure } = spec.ttlStrategy ?? {};
  const seconds = (status?.phase === "Succeeded" ? secondsAfterSuccess : secondsAfterFailure) ?? secondsAfterCompletion;
  const finishedMs = readTime(status?.finishedAt);
  // One that somebody else declared over without saying when stays, and so does one whose spec was refused and may say
  // anything.
  return !Number.isFinite(seconds) || finishedMs === undefined
    ? undefined
    : Math.max(0, finishedMs + (seconds ?? 0) * 1000 - nowMs);
}
