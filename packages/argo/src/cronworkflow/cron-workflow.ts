import { defineKind } from "@flotilla/kubernetes";
import { cronWorkflowInterpreter } from "./cron-workflow-interpreter.ts";

export const cronWorkflow = defineKind({
  kind: { group: "argoproj.io", kind: "CronWorkflow" },
  interpreter: cronWorkflowInterpreter,
});
