import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleJobTemplate } from "../pod/pod-example.ts";
import { createCronJobController } from "./cronjob-controller.ts";
import { cronJobInterpreter } from "./cronjob-interpreter.ts";
import { CronJob } from "./cronjob-kind.ts";
import { rules } from "./cronjob-rules.ts";
import { hasLastRunFailed } from "./last-run.ts";

export const cronJob = defineKind({
  kind: CronJob,
  rules,
  interpreter: cronJobInterpreter,
  controllers: (deps) => [createCronJobController(deps)],
  progress: (cronJob) => ({
    isProgressing: false,
    failure: hasLastRunFailed(cronJob) ? "its last run did not succeed" : undefined,
  }),
  example: exampleOf(CronJob, {
    spec: { schedule: "0 * * * *", jobTemplate: { spec: { template: exampleJobTemplate } } },
  }),
});
