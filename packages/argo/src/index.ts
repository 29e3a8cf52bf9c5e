export { Workflow } from "./api/workflow.ts";
export { cronWorkflowInterpreter } from "./interpreter/cronworkflow.ts";
export { rolloutInterpreter } from "./interpreter/rollout.ts";
export { workflowInterpreter } from "./interpreter/workflow.ts";
export { createWorkflowController } from "./workflow/argo-controller.ts";
