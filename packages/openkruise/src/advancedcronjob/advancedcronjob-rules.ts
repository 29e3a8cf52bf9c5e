/** Defaults and validation of AdvancedCronJob, as in OpenKruise's webhooks; the same for both versions. */
import { change, checkNotNegative, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import type { CronJobTemplate } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { scheduleProblem, zoneProblem } from "@flotilla/kubernetes";
import type { FeatureGates } from "../api/feature-gates.ts";
import { checkMetadata } from "../api/metadata-rules.ts";
import { plainNameProblems } from "../api/strategy-rules.ts";
import { checkOwnTemplate, completesTemplate, completeTemplate, hasSettledTemplate } from "../api/template-rules.ts";
import { isHub, kruiseAdmission } from "../api/webhook.ts";
import { AdvancedCronJob } from "./advancedcronjob-kind.ts";
import { checkImagePull, completeImagePull } from "./image-pull-rules.ts";

type Read<T> = DeepReadonly<T>;

const NO_PULLS =
  "spec.template.imageListPullJobTemplate: no run will start, because the feature gate ImagePullJobGate is off";
/** The CRD requires some of the fields, but its schema is checked after the webhook that sets defaults. */
type Spec = Partial<Read<AdvancedCronJob>["spec"]>;
type Template = Read<CronJobTemplate>;

const completeAdvancedCronJob =
  (gates: FeatureGates) =>
  (cronJob: Read<AdvancedCronJob>, { oldObject }: Review<AdvancedCronJob>): Read<AdvancedCronJob> =>
    change(cronJob, "spec", (given) => {
      const completesPods = completesTemplate(given.template, oldObject, gates);
      const spec = change(given, "template", (template) =>
        change(completesPods ? completePods(template) : template, "imageListPullJobTemplate", completeImagePull),
      );
      return fill(spec, {
        // Concurrent pulls of the same images are useless.
        concurrencyPolicy: spec.template?.imageListPullJobTemplate ? "Replace" : "Allow",
        paused: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      });
    });

function completePods(template: Template): Template {
  const completed = change(template, "jobTemplate", (job) => change(job, "spec", completeJob));
  return change(completed, "broadcastJobTemplate", (job) => change(job, "spec", completeJob));
}

const completeJob = <S extends { readonly template: Read<PodTemplateSpec> }>(spec: S): S =>
  change(spec, "template", completeTemplate as (template: NonNullable<S["template"]>) => S["template"]);

function checkAdvancedCronJob(review: Review<AdvancedCronJob>): FieldError[] {
  const { metadata, spec } = review.object;
  const errors: FieldError[] = [];
  if (!review.oldObject) checkMetadata(errors, metadata, plainNameProblems("AdvancedCronJob"));
  checkSchedule(errors, spec);
  checkJobs(errors, spec, hasSettledTemplate(review));
  errors.push(
    ...checkNotNegative("spec.startingDeadlineSeconds", spec.startingDeadlineSeconds),
    ...checkNotNegative("spec.successfulJobsHistoryLimit", spec.successfulJobsHistoryLimit),
    ...checkNotNegative("spec.failedJobsHistoryLimit", spec.failedJobsHistoryLimit),
  );
  if (spec.timeZone !== undefined) checkZone(errors, spec.timeZone);
  if (review.oldObject) checkUpdate(errors, spec, review.oldObject.spec);
  return errors;
}

function checkSchedule(errors: FieldError[], { schedule = "", timeZone }: Spec): void {
  const invalid = (problem: string): void => void errors.push(field.invalid("spec.schedule", schedule, problem));
  if (schedule === "") invalid("schedule cannot be empty, please provide valid cron schedule.");
  const problem = scheduleProblem(schedule);
  // Kubernetes and OpenKruise word a panic of the parser differently.
  if (problem !== undefined)
    invalid(problem.replace(/^invalid schedule format: runtime/, "invalid cron schedule: runtime"));
  if (schedule.includes("TZ") && timeZone !== undefined)
    invalid("cannot use both timeZone field and TZ or CRON_TZ in schedule");
}

/** Upstream reports errors of all pod templates at `spec.template`, and of the policy at `spec.spec`. */
function checkJobs(errors: FieldError[], { template = {}, concurrencyPolicy }: Spec, isSettled: boolean): void {
  const { jobTemplate, broadcastJobTemplate, imageListPullJobTemplate } = template;
  for (const job of [jobTemplate, broadcastJobTemplate])
    if (job && !isSettled) checkOwnTemplate(errors, "spec.template", job.spec?.template ?? {});
  if (imageListPullJobTemplate) {
    if (concurrencyPolicy !== "Replace" && concurrencyPolicy !== "Forbid")
      errors.push(
        field.invalid(
          "spec.spec.concurrencyPolicy",
          concurrencyPolicy,
          `concurrencyPolicy should be Replace or Forbid, but current value is: ${concurrencyPolicy ?? ""}`,
        ),
      );
    errors.push(...checkImagePull("spec.template.imageListPullJobTemplate.spec", imageListPullJobTemplate));
  }
  const count = [jobTemplate, broadcastJobTemplate, imageListPullJobTemplate].filter(Boolean).length;
  if (count === 1) return;
  const problem = count === 0 ? "spec must have one template" : "spec can have only one template";
  errors.push(
    field.forbidden(
      "spec.template",
      `${problem}, either JobTemplate or BroadcastJobTemplate or ImageListPullJobTemplate should be provided`,
    ),
  );
}

function checkZone(errors: FieldError[], zone: string): void {
  const invalid = (problem: string): void => void errors.push(field.invalid("spec.timeZone", zone, problem));
  if (zone === "") return invalid("timeZone must be nil or non-empty string");
  if (zone.toLowerCase() === "local")
    invalid("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  const problem = zoneProblem(zone);
  if (problem !== undefined) invalid(problem);
}

const MUTABLE =
  "updates to advancedcronjob spec for fields other than 'imageListPullJobTemplate', 'schedule', " +
  "'concurrencyPolicy', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit', 'startingDeadlineSeconds', " +
  "'timeZone' and 'paused' are forbidden";

/** Only the templates are fixed; that of image pulls may change, but not be added or removed. */
function checkUpdate(errors: FieldError[], { template: now = {} }: Spec, { template: before = {} }: Spec): void {
  const pull = before.imageListPullJobTemplate;
  const fixed = pull ? { ...now, imageListPullJobTemplate: pull } : now;
  if (!equalJson(fixed, before)) errors.push(field.forbidden("spec", MUTABLE));
}

export const advancedCronJobRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(AdvancedCronJob, {
    name: "advancedcronjob",
    code: 422,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: { template: "apps-kruise-v1beta1.CronJobTemplate" },
    complete: completeAdvancedCronJob(gates),
    check(review) {
      // OpenKruise accepts it, and none of its runs can be created. The hub only propagates it.
      if (review.object.spec.template?.imageListPullJobTemplate && !gates.isOn("ImagePullJobGate") && !isHub(review))
        review.warn(`${NO_PULLS}; enable it with --kruise-gates ImagePullJobGate=true`);
      return checkAdvancedCronJob(review);
    },
  }),
];
