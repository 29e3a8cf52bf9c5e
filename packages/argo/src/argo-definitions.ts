/** Argo's kinds. Only Workflow is served; the others are interpreted on members that have them. */
import type { KindDefinition } from "@flotilla/kubernetes";
import { cronWorkflow } from "./cronworkflow/cronworkflow.ts";
import { rollout } from "./rollout/rollout.ts";
import { workflow } from "./workflow/workflow.ts";

export const argoDefinitions: readonly KindDefinition[] = [workflow, cronWorkflow, rollout];
