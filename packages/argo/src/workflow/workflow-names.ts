/** Names, labels and annotations of Workflows and their pods, as in Argo. */
import type { Workflow } from "./workflow-kind.ts";
import type { WorkflowNodeStatus, WorkflowTemplate } from "./workflow-types.ts";
import type { DeepReadonly } from "@flotilla/base";
import { fnv1a32 } from "@flotilla/apimachinery";

export type ReadonlyWorkflow = DeepReadonly<Workflow>;
export type ReadonlyTemplate = DeepReadonly<WorkflowTemplate>;
export type ReadonlyNode = DeepReadonly<WorkflowNodeStatus>;

export const WORKFLOW_LABEL = "workflows.argoproj.io/workflow";
export const COMPLETED_LABEL = "workflows.argoproj.io/completed";
export const PHASE_LABEL = "workflows.argoproj.io/phase";
export const NODE_NAME_ANNOTATION = "workflows.argoproj.io/node-name";
export const NODE_ID_ANNOTATION = "workflows.argoproj.io/node-id";
export const MAIN_CONTAINER = "main";

/** Leaves room for a dash and the hash in a name of at most 253 characters. */
const MAX_POD_PREFIX = 242;

/** The root node has the name of the Workflow. */
export function nodeIdOf(workflow: string, node: string): string {
  return node === workflow ? workflow : `${workflow}-${fnv1a32(node)}`;
}

export function podNameOf(workflow: string, node: string, template: string): string {
  return node === workflow
    ? workflow
    : `${`${workflow}${template === "" ? "" : `-${template}`}`.slice(0, MAX_POD_PREFIX)}-${fnv1a32(node)}`;
}

/** The name of a node within its parent: `[0]`, `build`, `build(1:arm)`. */
export function displayNameOf(node: string, boundary: ReadonlyNode | undefined): string {
  if (!boundary) return node;
  const rest = node.startsWith(boundary.name) ? node.slice(boundary.name.length) : node;
  return rest.replace(/^(\[\d+\])?\./, "");
}
