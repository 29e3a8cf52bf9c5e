export { argoDefinitions } from "./argo-definitions.ts";
export { cronWorkflowInterpreter } from "./cronworkflow/cronworkflow-interpreter.ts";
export { rolloutInterpreter } from "./rollout/rollout-interpreter.ts";
export { createWorkflowController } from "./workflow/argo-controller.ts";
export { workflowInterpreter } from "./workflow/workflow-interpreter.ts";
export { Workflow } from "./workflow/workflow-kind.ts";
