/**
 * The context of one reconcile of a Workflow, for the templates that it executes: the known state, the pods to create,
 * and the time of the next reconcile.
 *
 * `execute.ts` executes templates of every type; `steps.ts` and `dag.ts` execute those that consist of others, through
 * `execute.ts`.
 */
import type { Pod, ReadonlyPod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyNode, ReadonlyTemplate, ReadonlyWorkflow } from "./workflow-names.ts";
import type { NodeTable } from "./node-table.ts";
import type { Scope } from "./variables.ts";

export interface Run {
  readonly workflow: ReadonlyWorkflow;
  readonly nodes: NodeTable;
  readonly pods: ReadonlyMap<string, ReadonlyPod>;
  readonly nowMs: number;
  /** Variables of every template. */
  readonly globals: Scope;
  /** Pods to create. */
  readonly create: DeepReadonly<Pod>[];
  /** The current node of the call; undefined if it has to wait for a slot. */
  execute(run: Run, call: Call): ReadonlyNode | undefined;
  /** Pods that are pending or running. */
  active: number;
  /** The earliest time at which something is due. */
  dueMs?: number;
  /** Set while nothing new may start: the Workflow has exceeded its deadline or is being stopped. */
  stopped?: boolean;
}

export interface Call {
  nodeName: string;
  template: string;
  boundaryID?: string;
  /** Arguments for the template's inputs, with variables substituted. */
  parameters: ReadonlyMap<string, string>;
  depth: number;
  /** The number of this attempt, within a retry node. */
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

/** The node of a running template; created on first use. */
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
      boundaryID,
      ...inputsOf(template, scope),
    })
  );
}
