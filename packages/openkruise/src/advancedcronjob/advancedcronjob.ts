/** AdvancedCronJob: everything that Flotilla knows about the kind. */
import { exampleJobTemplate, exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { onlyInBeta } from "../api/lost-fields.ts";
import { createAdvancedCronJobController } from "./advancedcronjob-controller.ts";
import { advancedCronJobInterpreter } from "./advancedcronjob-interpreter.ts";
import { AdvancedCronJob } from "./advancedcronjob-kind.ts";
import { advancedCronJobRules } from "./advancedcronjob-rules.ts";
import { BETA_FIELDS } from "./advancedcronjob-versions.ts";
import { createImagePullAdmission } from "./image-pull-admission.ts";

export const advancedCronJob = defineKruiseKind({
  kind: AdvancedCronJob,
  summary: "Runs a Job, a BroadcastJob or an ImageListPullJob on a schedule.",
  example: exampleOf(AdvancedCronJob, {
    spec: { schedule: "0 * * * *", template: { jobTemplate: { spec: { template: exampleJobTemplate } } } },
  }),
  rules: advancedCronJobRules,
  fieldsMissingIn: onlyInBeta(...BETA_FIELDS),
  interpreter: advancedCronJobInterpreter,
  controllers: (deps) => [createAdvancedCronJobController(deps)],
  webhooks: (options) => [createImagePullAdmission(options)],
  fieldNotes: {
    "spec.schedule": "The schedule in cron format. Every cluster runs it.",
    "spec.timeZone": "The time zone of the schedule; UTC by default.",
    "spec.startingDeadlineSeconds": "How late a missed run may start; without it, at any time.",
    "spec.concurrencyPolicy": "Whether a run may start while another is active.",
    "spec.paused": "Starts no runs; active ones continue.",
    "spec.successfulJobsHistoryLimit": "How many completed runs are kept; 3 by default.",
    "spec.failedJobsHistoryLimit": "How many failed runs are kept; 1 by default.",
    "spec.template": "What a run creates: exactly one of the templates. It cannot change later, except image pulls.",
  },
});
