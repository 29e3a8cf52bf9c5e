export { argoDefinitions } from "./argo-definitions.ts";
export { argoWorkloads } from "./argo-workloads.ts";
export { Workflow } from "./workflow/workflow-kind.ts";
