/** AdvancedCronJob: everything that Flotilla knows about the kind. */
import { exampleJobTemplate, exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { onlyInBeta } from "../api/lost-fields.ts";
import { createAdvancedCronJobController } from "./advancedcronjob-controller.ts";
import { advancedCronJobInterpreter } from "./advancedcronjob-interpreter.ts";
import { AdvancedCronJob } from "./advancedcronjob-kind.ts";
import { advancedCronJobRules } from "./advancedcronjob-rules.ts";
import { BETA_FIELDS } from "./advancedcronjob-versions.ts";

export const advancedCronJob = defineKruiseKind({
  kind: AdvancedCronJob,
  example: exampleOf(AdvancedCronJob, {
    spec: { schedule: "0 * * * *", template: { jobTemplate: { spec: { template: exampleJobTemplate } } } },
  }),
  rules: advancedCronJobRules,
  fieldsMissingIn: onlyInBeta(...BETA_FIELDS),
  interpreter: advancedCronJobInterpreter,
  controllers: (deps) => [createAdvancedCronJobController(deps)],
});
