/** Defaults and validation of CronJob. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, checkNotNegative, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { specWarnings } from "../workloads/workload-rules.ts";
import { hostnameWarning } from "../pod/pod-warnings.ts";
import { scheduleProblem, zoneProblem } from "./cron-schedule.ts";
import { checkJobSpec, defaultJobTemplate, jobSpecWarnings, type JobSpec } from "../job/job-spec.ts";
import { CronJob } from "./cronjob-kind.ts";

type Spec = DeepReadonly<CronJob["spec"]>;

function defaultSpec(spec: Spec): Spec {
  const filled: Spec = fill(spec, {
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  return change(filled, "jobTemplate", (template) => change(template, "spec", defaultJobTemplate));
}

/** A Job name is the CronJob name plus the scheduled minute: eleven more characters. */
const MAX_NAME_LENGTH = 52;
const POLICIES = ["Allow", "Forbid", "Replace"];

function checkCronJob({ object: { metadata, spec }, oldObject, settled }: Review<CronJob>): FieldError[] {
  const errors: FieldError[] = [];
  checkSchedule(errors, spec, oldObject?.spec);
  errors.push(...checkNotNegative("spec.startingDeadlineSeconds", spec.startingDeadlineSeconds));
  if (spec.timeZone !== undefined && spec.timeZone !== oldObject?.spec.timeZone) checkZone(errors, spec.timeZone);
  if (!spec.concurrencyPolicy) errors.push(field.required("spec.concurrencyPolicy"));
  else if (!POLICIES.includes(spec.concurrencyPolicy))
    errors.push(field.notSupported("spec.concurrencyPolicy", spec.concurrencyPolicy, POLICIES));
  const job: JobSpec = spec.jobTemplate?.spec ?? { template: {} };
  const before = settled?.spec.jobTemplate?.spec;
  checkJobSpec(errors, "spec.jobTemplate.spec", job, before !== undefined && before.template === job.template);
  if (job.selector)
    errors.push(field.invalid("spec.jobTemplate.spec.selector", job.selector, "`selector` will be auto-generated"));
  if (job.manualSelector)
    errors.push(field.notSupported("spec.jobTemplate.spec.manualSelector", true, ["nil", "false"]));
  errors.push(
    ...checkNotNegative("spec.successfulJobsHistoryLimit", spec.successfulJobsHistoryLimit),
    ...checkNotNegative("spec.failedJobsHistoryLimit", spec.failedJobsHistoryLimit),
  );
  if (!oldObject && metadata.name.length > MAX_NAME_LENGTH)
    errors.push(field.invalid("metadata.name", metadata.name, `must be no more than ${MAX_NAME_LENGTH} characters`));
  return errors;
}

/** The time zone has its own field; stored schedules that contain one stay valid. */
function checkSchedule(errors: FieldError[], { schedule, timeZone }: Spec, old: Spec | undefined): void {
  if (!schedule) return void errors.push(field.required("spec.schedule"));
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) errors.push(field.invalid("spec.schedule", schedule, problem));
  if (!schedule.includes("TZ")) return;
  if (!old?.schedule?.includes("TZ"))
    errors.push(
      field.invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
    );
  else if (timeZone !== undefined)
    errors.push(
      field.invalid("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"),
    );
}

const ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

function checkZone(errors: FieldError[], zone: string): void {
  const path = "spec.timeZone";
  if (zone === "") return void errors.push(field.invalid(path, zone, "timeZone must be nil or non-empty string"));
  if (zone.split("/").some((part) => part === "." || part === ".." || part.startsWith("-") || !ZONE_PART.test(part)))
    return void errors.push(field.invalid(path, zone, `unknown time zone ${zone}`));
  if (zone.toLowerCase() === "local")
    errors.push(
      field.invalid(path, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"),
    );
  const problem = zoneProblem(zone);
  if (problem !== undefined) errors.push(field.invalid(path, zone, problem));
}

function warnings(review: Review<CronJob>): string[] {
  const { object, oldObject, operation, subresource } = review;
  if (subresource === "status") return [];
  const job: JobSpec = object.spec.jobTemplate?.spec ?? { template: {} };
  const found = specWarnings(review, () => [
    ...(operation === "CREATE" ? hostnameWarning(object.metadata.name) : []),
    ...jobSpecWarnings("spec.jobTemplate.spec", job),
  ]);
  if (oldObject && object.spec.schedule?.includes("TZ"))
    found.push(
      "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see " +
        "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
    );
  return found;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(CronJob, "batch-v1", {
    complete: (cronJob) => change(cronJob, "spec", defaultSpec),
    validate: checkCronJob,
    warnings,
  }),
];
