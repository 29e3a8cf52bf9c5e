import { defineKind } from "@flotilla/kubernetes";
import { cronWorkflowInterpreter } from "./cronworkflow-interpreter.ts";

export const cronWorkflow = defineKind({
  kind: { group: "argoproj.io", kind: "CronWorkflow" },
  interpreter: cronWorkflowInterpreter,
});
