/** Kinds that run once or on a schedule, and what their status does not say about their pods. Pure. */
import type { Kind } from "@flotilla/apimachinery";
import { argoWorkloads } from "@flotilla/argo";
import { isObject } from "@flotilla/base";
import { countOf, kubernetesWorkloads } from "@flotilla/kubernetes";
import { kruiseWorkloads } from "@flotilla/openkruise";

const WORKLOADS: readonly Kind[] = [...kubernetesWorkloads, ...kruiseWorkloads, ...argoWorkloads];
const namesOf = (trait: "runsToCompletion" | "runsOnEveryNode" | "isScheduled"): ReadonlySet<string> =>
  new Set(WORKLOADS.filter(({ workload }) => workload?.[trait]).map(({ kind }) => kind));

/** The kinds whose pods end: they progress for as long as they run, which is not a problem by itself. */
export const RUN_TO_COMPLETION = namesOf("runsToCompletion");

/** Kinds with a pod on each node. */
export const ON_EVERY_NODE = namesOf("runsOnEveryNode");

/** Kinds that start runs of another kind on a schedule. */
export const SCHEDULED_KINDS = namesOf("isScheduled");

/**
 * Whether only the pods on the member show that something is wrong: active pods of a BroadcastJob, and of a Job of an
 * old cluster, may wait or run; an AdvancedCronJob does not report how its last run ended.
 */
export function hidesItsPods(kind: string, status: unknown): boolean {
  if (!isObject(status)) return false;
  const { active, ready, lastScheduleTime } = status;
  if (SCHEDULED_KINDS.has(kind))
    return (Array.isArray(active) && active.length > 0) || (kind !== "CronJob" && lastScheduleTime !== undefined);
  return RUN_TO_COMPLETION.has(kind) && ready === undefined && countOf(active) > 0;
}
