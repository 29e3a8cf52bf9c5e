/** Shared by steps and tasks: whether and how one starts, and the variables with its result. */
import type { WorkflowStep } from "./workflow-types.ts";
import type { DeepReadonly } from "@flotilla/base";
import { isWhen } from "./task-expressions.ts";
import { argumentsOf } from "./expand.ts";
import type { ReadonlyNode, ReadonlyTemplate } from "./workflow-names.ts";
import { isFulfilled } from "./node-table.ts";
import type { Call, Run } from "./run-workflow.ts";
import { WorkflowProblem, substitute } from "./variables.ts";
import type { Scope } from "./variables.ts";

export type Step = DeepReadonly<WorkflowStep>;

/** Records the result of a step for the following ones. */
export function noteResult({ nodes }: Run, scope: Map<string, string>, prefix: string, nodeName: string): void {
  const node = nodes.get(nodeName);
  if (!node) return;
  scope.set(`${prefix}.status`, node.phase ?? "");
  scope.set(`${prefix}.id`, node.id);
  const { exitCode } = node.outputs ?? {};
  if (exitCode !== undefined) scope.set(`${prefix}.exitCode`, exitCode);
}

export function isTolerated(step: Pick<Step, "continueOn"> | undefined, { phase }: ReadonlyNode): boolean {
  return (
    (phase === "Failed" && step?.continueOn?.failed === true) || (phase === "Error" && step?.continueOn?.error === true)
  );
}

/** Whether the template's own parallelism allows one more. */
export function hasRoom({ nodes }: Run, { parallelism }: ReadonlyTemplate, boundaryID: string): boolean {
  if (parallelism === undefined || parallelism <= 0) return true;
  let busy = 0;
  for (const { boundaryID: within, type, phase } of nodes.all())
    if (within === boundaryID && type !== "StepGroup" && type !== "TaskGroup" && !isFulfilled({ phase })) busy++;
  return busy < parallelism;
}

/**
 * The node of a step: skipped if its condition is false, failed if its variables cannot be resolved, started otherwise.
 */
export function startStep(
  run: Run,
  call: Call,
  step: Pick<Step, "template" | "when" | "arguments">,
  nodeName: string,
  boundaryID: string,
  scope: Scope,
): ReadonlyNode | undefined {
  const { nodes } = run;
  const made = { name: nodeName, templateName: step.template ?? "", boundaryID };
  try {
    const when = substitute(step.when ?? "", scope);
    if (!nodes.get(nodeName) && when !== "" && !isWhen(when))
      return nodes.add({ ...made, type: "Skipped", phase: "Skipped", message: `when '${when}' evaluated false` });
    return run.execute(run, {
      nodeName,
      template: step.template ?? "",
      boundaryID,
      parameters: argumentsOf(step.arguments, scope),
      depth: call.depth + 1,
    });
  } catch (error) {
    if (!(error instanceof WorkflowProblem)) throw error;
    const known = nodes.get(nodeName);
    return known
      ? nodes.mark(known, "Error", error.message)
      : nodes.add({ ...made, type: "Skipped", phase: "Error", message: error.message });
  }
}
