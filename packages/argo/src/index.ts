export { argoDefinitions } from "./argo-definitions.ts";
export { Workflow } from "./workflow/workflow-kind.ts";
