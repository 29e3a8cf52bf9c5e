/**
 * Validates the status of a Job. A rule applies only when its part of the status changes, so that older Jobs can still
 * finish.
 */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import { checkCounts } from "../workloads/workload-rules.ts";
import type { Job, JobStatus } from "@flotilla/apimachinery/facts/batch-v1.ts";
import { firstCommonIndex, indexProblem } from "./index-validation.ts";
import { hasJobCondition, isFinished, type JobConditionType } from "./job-conditions.ts";
type Read<T> = DeepReadonly<T>;

const CONDITIONS = "status.conditions";

/** Inputs of the comparison: both Jobs, their statuses, and the changed parts. */
interface Change {
  job: Read<Job>;
  old: Read<Job>;
  status: Read<JobStatus>;
  before: Read<JobStatus>;
  changed(...parts: (keyof JobStatus | JobConditionType | "finished")[]): boolean;
}

export function checkJobStatus(job: Read<Job>, old: Read<Job>): FieldError[] {
  const errors: FieldError[] = [];
  const [status, before]: [Read<JobStatus>, Read<JobStatus>] = [job.status ?? {}, old.status ?? {}];
  const changed = (...parts: (keyof JobStatus | JobConditionType | "finished")[]): boolean =>
    parts.some((part) => {
      if (part === "finished") return isFinished(job) !== isFinished(old);
      if (/^[A-Z]/.test(part))
        return hasJobCondition(job, part as JobConditionType) !== hasJobCondition(old, part as JobConditionType);
      return !equalJson(status[part as keyof JobStatus], before[part as keyof JobStatus]);
    });
  const change: Change = { job, old, status, before, changed };
  checkCounts(errors, "status", status, ["active", "succeeded", "failed", "ready", "terminating"]);
  checkUncounted(errors, status);
  checkOutcome(errors, change);
  checkFinished(errors, change);
  checkIndexes(errors, change);
  checkCriteria(errors, change);
  checkKept(errors, change);
  return errors;
}

function checkUncounted(errors: FieldError[], { uncountedTerminatedPods }: Read<JobStatus>): void {
  if (!uncountedTerminatedPods) return;
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"] as const) {
    for (const [index, uid] of (uncountedTerminatedPods[list] ?? []).entries()) {
      const path = `status.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === "") errors.push(field.invalid(path, uid, "must not be empty"));
      else if (seen.has(uid)) errors.push(field.duplicate(path, uid));
      seen.add(uid);
    }
  }
}

/** A Job either completes or fails, and records when. */
function checkOutcome(errors: FieldError[], { job, status: { completionTime, startTime }, changed }: Change): void {
  const is = (type: JobConditionType): boolean => hasJobCondition(job, type);
  if (changed("Complete", "Failed") && is("Complete") && is("Failed"))
    errors.push(field.invalid(CONDITIONS, field.noValue, "cannot set Complete=True and Failed=true conditions"));
  if (changed("Complete", "FailureTarget") && is("Complete") && is("FailureTarget"))
    errors.push(field.invalid(CONDITIONS, field.noValue, "cannot set Complete=True and FailureTarget=true conditions"));
  if (changed("Complete", "completionTime")) {
    if (completionTime !== undefined && !is("Complete"))
      errors.push(
        field.invalid(
          "status.completionTime",
          completionTime,
          "cannot set completionTime when there is no Complete=True condition",
        ),
      );
    if (completionTime === undefined && is("Complete"))
      errors.push(field.required("status.completionTime", "completionTime is required for Complete jobs"));
  }
  if (
    changed("startTime", "completionTime") &&
    startTime !== undefined &&
    completionTime !== undefined &&
    completionTime < startTime
  )
    errors.push(field.invalid("status.completionTime", completionTime, "must be equal to or after `startTime`"));
  if (changed("Failed", "failedIndexes") && is("Failed") && !is("FailureTarget"))
    errors.push(
      field.invalid(
        CONDITIONS,
        field.noValue,
        "cannot set Failed=True condition without the FailureTarget=true condition",
      ),
    );
  if (changed("Complete", "SuccessCriteriaMet") && is("Complete") && !is("SuccessCriteriaMet"))
    errors.push(
      field.invalid(
        CONDITIONS,
        field.noValue,
        "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
      ),
    );
}

function checkFinished(errors: FieldError[], { job, status, changed }: Change): void {
  if (!isFinished(job)) return;
  const { active = 0, startTime, uncountedTerminatedPods } = status;
  if (changed("finished", "active") && active > 0)
    errors.push(field.invalid("status.active", active, "active>0 is invalid for finished job"));
  const neverStarts = job.spec?.suspend === true && job.spec.completions === 0;
  if (changed("finished", "startTime") && !neverStarts && startTime === undefined)
    errors.push(field.required("status.startTime", "startTime is required for finished job"));
  const uncounted = (uncountedTerminatedPods?.failed?.length ?? 0) + (uncountedTerminatedPods?.succeeded?.length ?? 0);
  if (changed("finished", "uncountedTerminatedPods") && uncounted > 0)
    errors.push(
      field.invalid("status.uncountedTerminatedPods", uncountedTerminatedPods, "must be empty for finished job"),
    );
}

function checkIndexes(errors: FieldError[], { job, status, changed }: Change): void {
  const { completions, backoffLimitPerIndex, completionMode } = job.spec ?? {};
  const { completedIndexes = "", failedIndexes } = status;
  if (changed("completedIndexes") && completions !== undefined) {
    const problem = indexProblem(completedIndexes, completions);
    if (typeof problem === "string")
      errors.push(
        field.invalid("status.completedIndexes", completedIndexes, `error parsing completedIndexes: ${problem}`),
      );
  }
  if (
    changed("failedIndexes") &&
    completions !== undefined &&
    backoffLimitPerIndex !== undefined &&
    failedIndexes !== undefined
  ) {
    const problem = indexProblem(failedIndexes, completions);
    if (typeof problem === "string")
      errors.push(field.invalid("status.failedIndexes", failedIndexes, `error parsing failedIndexes: ${problem}`));
  }
  if (changed("completedIndexes") && completedIndexes !== "" && completionMode !== "Indexed")
    errors.push(
      field.invalid(
        "status.completedIndexes",
        completedIndexes,
        "cannot set non-empty completedIndexes when non-indexed completion mode",
      ),
    );
  if (changed("failedIndexes") && backoffLimitPerIndex === undefined && failedIndexes !== undefined)
    errors.push(
      field.invalid(
        "status.failedIndexes",
        failedIndexes,
        "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
      ),
    );
  if (changed("failedIndexes", "completedIndexes") && completions !== undefined && failedIndexes !== undefined) {
    const common = firstCommonIndex(completedIndexes, failedIndexes, completions);
    if (common !== undefined)
      errors.push(
        field.invalid(
          "status.failedIndexes",
          failedIndexes,
          `failedIndexes and completedIndexes overlap at index: ${common}`,
        ),
      );
  }
}

function checkCriteria(
  errors: FieldError[],
  { job, status: { terminating, ready, active = 0 }, changed }: Change,
): void {
  const is = (type: JobConditionType): boolean => hasJobCondition(job, type);
  if (changed("finished", "terminating") && terminating !== undefined && terminating > 0 && isFinished(job))
    errors.push(field.invalid("status.terminating", terminating, "terminating>0 is invalid for finished job"));
  if (changed("ready", "active") && ready !== undefined && ready > active)
    errors.push(field.invalid("status.ready", ready, "cannot set more ready pods than active"));
  if (is("SuccessCriteriaMet") && is("Failed"))
    errors.push(
      field.invalid(CONDITIONS, field.noValue, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
    );
  if (is("SuccessCriteriaMet") && is("FailureTarget"))
    errors.push(
      field.invalid(CONDITIONS, field.noValue, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
    );
  if (job.spec?.successPolicy && !is("SuccessCriteriaMet") && is("Complete"))
    errors.push(
      field.invalid(
        CONDITIONS,
        field.noValue,
        "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
      ),
    );
}

/** Terminal conditions and counters of a Job must not be reverted. */
function checkKept(errors: FieldError[], change: Change): void {
  const { job, old, status, before, changed } = change;
  for (const type of ["Failed", "Complete", "FailureTarget"] as const) {
    if (hasJobCondition(old, type) && !hasJobCondition(job, type))
      errors.push(field.invalid(CONDITIONS, field.noValue, `cannot disable the terminal ${type}=True condition`));
  }
  const { failed = 0, succeeded = 0, completionTime, startTime } = status;
  if (failed < (before.failed ?? 0))
    errors.push(field.invalid("status.failed", failed, "cannot decrease the failed counter"));
  const { completionMode, completions, parallelism, suspend } = job.spec ?? {};
  const mayShrink = completionMode === "Indexed" && completions === parallelism;
  if (!mayShrink && succeeded < (before.succeeded ?? 0))
    errors.push(field.invalid("status.succeeded", succeeded, "cannot decrease the succeeded counter"));
  if (completionTime !== undefined && before.completionTime !== undefined && completionTime !== before.completionTime)
    errors.push(field.invalid("status.completionTime", completionTime, "field is immutable"));
  const isResuming = hasJobCondition(old, "Suspended") && hasJobCondition(job, "Suspended", "False");
  if (changed("startTime") && !isResuming && before.startTime !== undefined && !suspend)
    errors.push(field.invalid("status.startTime", startTime, "field is immutable for unsuspended job once set"));
  if (hasJobCondition(old, "SuccessCriteriaMet") && !hasJobCondition(job, "SuccessCriteriaMet"))
    errors.push(field.invalid(CONDITIONS, field.noValue, "cannot disable the SuccessCriteriaMet=True condition"));
  if (
    hasJobCondition(old, "Complete") &&
    !hasJobCondition(old, "SuccessCriteriaMet") &&
    hasJobCondition(job, "SuccessCriteriaMet")
  ) {
    errors.push(
      field.invalid(
        CONDITIONS,
        field.noValue,
        "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
      ),
    );
  }
}
