/** Conditions that report the outcome of a Job. */
import type { DeepReadonly } from "@flotilla/base";
import type { Job } from "@flotilla/apimachinery/facts/batch-v1.ts";

export type JobConditionType = "Complete" | "Failed" | "Suspended" | "FailureTarget" | "SuccessCriteriaMet";

export function hasJobCondition({ status }: DeepReadonly<Job>, type: JobConditionType, value = "True"): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === value);
}

export const isFinished = (job: DeepReadonly<Job>): boolean =>
  hasJobCondition(job, "Complete") || hasJobCondition(job, "Failed");
