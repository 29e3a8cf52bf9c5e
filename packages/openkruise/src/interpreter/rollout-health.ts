/**
 * Health of OpenKruise rollouts. Without a partition all pods must be updated, as in Karmada. With a partition the
 * stage counts: as many pods updated as the partition lets through, and all pods available.
 */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { isObject } from "@flotilla/base";
import { countIn, isObserved, isRolledOut, reportedStatuses, statusOf, sumOf } from "@flotilla/kubernetes";
import type { StatusItem, WithStatus, Workload } from "@flotilla/kubernetes";

/** `kept` are the pods that the partition keeps at the old revision. */
export function hasReachedStage(workload: DeepReadonly<Workload>, kept: number): boolean {
  if (!isObject(workload.status)) return false;
  if (kept <= 0) return isRolledOut(workload);
  const replicas = workload.spec?.replicas ?? 1;
  return (
    isObserved(workload) &&
    countIn(workload, "updatedReplicas") >= replicas - kept &&
    countIn(workload, "availableReplicas") >= replicas
  );
}

/**
 * Counters that only newer OpenKruise releases report: summed if a member reports them, or if the template already has
 * them.
 */
export function sumReported(template: WithStatus, items: readonly StatusItem[], fields: readonly string[]): JsonObject {
  const before = statusOf(template) ?? {};
  const statuses = reportedStatuses(items);
  const isReported = (field: string): boolean =>
    before[field] !== undefined || statuses.some((status) => status[field] !== undefined);
  return Object.fromEntries(fields.filter(isReported).map((field) => [field, sumOf(statuses, field)]));
}
