/** Kinds that run once or on a schedule, and what their status does not say about their pods. Pure. */
import { isObject } from "@flotilla/base";
import { countOf } from "@flotilla/kubernetes";

/**
 * The kinds whose pods end: they progress for as long as they run, which is not a problem by itself. Their definitions
 * declare it as well; commands that only read statuses would load every controller with them.
 */
export const RUN_TO_COMPLETION: ReadonlySet<string> = new Set(["Job", "BroadcastJob", "Workflow"]);

/** Kinds that start runs of another kind on a schedule. */
export const SCHEDULED_KINDS: ReadonlySet<string> = new Set(["CronJob", "AdvancedCronJob"]);

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
