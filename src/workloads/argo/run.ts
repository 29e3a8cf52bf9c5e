/**
 * One look at a Workflow, as the templates that it executes see it: what is known, what is to be made, and when to look
 * again.
 *
 * `execute.ts` executes a template of any sort; `steps.ts` and `dag.ts` those that are made of others, which they
 * execute through it.
 */
import type { Pod } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { ReadonlyPod } from "../kubernetes/pod.ts";
import type { ReadonlyNode, ReadonlyTemplate, ReadonlyWorkflow } from "./names.ts";
import type { NodeTable } from "./node-table.ts";
import type { Scope } from "./variables.ts";

export interface Run {
  readonly workflow: ReadonlyWorkflow;
  readonly nodes: NodeTable;
  readonly pods: ReadonlyMap<string, ReadonlyPod>;
  readonly nowMs: number;
  /** What every template knows. */
  readonly globals: Scope;
  /** Pods to create. */
  readonly create: DeepReadonly<Pod>[];
  /** The node of the call as it is now; undefined when it has to wait for room. */
  execute(run: Run, call: Call): ReadonlyNode | undefined;
  /** Pods that are on their way or run. */
  active: number;
  /** The soonest moment at which something changes by itself. */
  dueMs?: number;
  /** Set while nothing new may start: the Workflow is over its time or being stopped. */
  stopped?: boolean;
}

export interface Call {
  nodeName: string;
  template: string;
  boundaryID?: string;
  /** Values for the template's inputs, with variables replaced. */
  parameters: ReadonlyMap<string, string>;
  depth: number;
  /** Within a node that is tried several times: which try this is. */
  retries?: number;
}

export function dueAt(run: Run, timeMs: number): void {
  if (run.dueMs === undefined || timeMs < run.dueMs) run.dueMs = timeMs;
}

function inputsOf(template: ReadonlyTemplate, scope: Scope): Pick<ReadonlyNode, "inputs"> {
  const parameters = (template.inputs?.parameters ?? []).map(({ name }) => ({
    name,
    value: scope.get(`inputs.parameters.${name}`) ?? "",
  }));
  return parameters.length > 0 ? { inputs: { parameters } } : {};
}

/** The node that stands for a template while it runs; made when it first does. */
export function nodeOf(
  run: Run,
  template: ReadonlyTemplate,
  { nodeName, boundaryID }: Call,
  scope: Scope,
  type: ReadonlyNode["type"],
  phase: "Pending" | "Running",
): ReadonlyNode {
  return (
    run.nodes.get(nodeName) ??
    run.nodes.add({
      name: nodeName,
      type,
      phase,
      templateName: template.name ?? "",
      ...(boundaryID !== undefined && { boundaryID }),
      ...inputsOf(template, scope),
    })
  );
}
