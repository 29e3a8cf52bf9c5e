import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleJobTemplate } from "../pod/pod-example.ts";
import { createCronJobController } from "./cronjob-controller.ts";
import { cronJobInterpreter } from "./cronjob-interpreter.ts";
import { CronJob } from "./cronjob-kind.ts";
import { rules } from "./cronjob-rules.ts";

export const cronJob = defineKind({
  kind: CronJob,
  rules,
  interpreter: cronJobInterpreter,
  controllers: (deps) => [createCronJobController(deps)],
  example: exampleOf(CronJob, {
    spec: { schedule: "0 * * * *", jobTemplate: { spec: { template: exampleJobTemplate } } },
  }),
});
