import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleJobTemplate } from "../pod/pod-example.ts";
import { jobProgress } from "./job-progress.ts";
import { createJobController } from "./job-controller.ts";
import { createJobOrphanController } from "./job-orphans-controller.ts";
import { createFinishedJobController } from "./finished-jobs-controller.ts";
import { jobInterpreter } from "./job-interpreter.ts";
import { Job } from "./job-kind.ts";
import { rules } from "./job-rules.ts";

export const job = defineKind({
  kind: Job,
  rules,
  interpreter: jobInterpreter,
  controllers: (deps) => [
    createJobController(deps),
    createJobOrphanController(deps),
    createFinishedJobController(deps),
  ],
  feedback: {
    versions: ["v1"],
    values: [
      ["JobComplete", '.status.conditions[?(@.type=="Complete")].status'],
      ["JobSucceeded", ".status.succeeded"],
    ],
  },
  progress: jobProgress,
  example: exampleOf(Job, { spec: { template: exampleJobTemplate } }),
});
