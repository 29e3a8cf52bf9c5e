/** Executes a template: a pod, a suspend, a list of steps, a DAG, or one of these with retries. */
import { runDag } from "./dag.ts";
import { parseDurationMs } from "./workflow-durations.ts";
import { podNameOf } from "./workflow-names.ts";
import type { ReadonlyNode, ReadonlyTemplate } from "./workflow-names.ts";
import { hasFailed, isFulfilled } from "./node-table.ts";
import { makeNodePod } from "./pods.ts";
import { nextRetry } from "./retry.ts";
import { dueAt, nodeOf } from "./run-workflow.ts";
import type { Call, Run } from "./run-workflow.ts";
import { runSteps } from "./steps.ts";
import { WorkflowProblem, asText, checkChoice, substitute, substituteAll } from "./variables.ts";
import type { Scope } from "./variables.ts";

/** Templates may call each other, and themselves. */
const MAX_DEPTH = 50;
/** Pods created per reconcile; the status update requeues the Workflow for the others. */
const MAX_NEW_PER_RECONCILE = 250;

/** The current node of the call; undefined if it has to wait for a slot. */
export function execute(run: Run, call: Call): ReadonlyNode | undefined {
  const known = run.nodes.get(call.nodeName);
  if (known && isFulfilled(known)) return known;
  if (run.stopped && !known) return undefined;
  if (call.depth > MAX_DEPTH)
    throw new WorkflowProblem(
      `Maximum recursion depth exceeded: templates call each other more than ${MAX_DEPTH} deep`,
    );
  const template = templateOf(run, call.template);
  const scope = scopeOf(run, template, call);
  if (template.retryStrategy && call.retries === undefined) return executeWithRetries(run, template, call, scope);
  if (template.steps) return runSteps(run, template, call, scope);
  if (template.dag) return runDag(run, template, call, scope);
  return template.suspend ? executeSuspend(run, template, call, scope) : executePod(run, template, call, scope);
}

function templateOf({ workflow }: Run, name: string): ReadonlyTemplate {
  const template = workflow.spec.templates?.find((candidate) => candidate.name === name);
  if (!template) throw new WorkflowProblem(`template name '${name}' undefined`);
  return template;
}

/** The variables of the template: the Workflow's values and its own inputs. */
function scopeOf(
  { globals, workflow }: Run,
  template: ReadonlyTemplate,
  { parameters, nodeName, retries }: Call,
): Scope {
  const scope = new Map(globals);
  for (const { name, value, default: fallback, enum: choices } of template.inputs?.parameters ?? []) {
    const given =
      parameters.get(name) ??
      (value === undefined ? undefined : substitute(asText(value), globals)) ??
      (fallback === undefined ? undefined : asText(fallback));
    if (given === undefined) throw new WorkflowProblem(`inputs.parameters.${name} was not supplied`);
    checkChoice(`inputs.parameters.${name}`, given, choices);
    scope.set(`inputs.parameters.${name}`, given);
  }
  scope.set("node.name", nodeName);
  scope.set("pod.name", podNameOf(workflow.metadata.name, nodeName, template.name ?? ""));
  if (retries !== undefined) scope.set("retries", String(retries));
  return scope;
}

function executePod(run: Run, template: ReadonlyTemplate, call: Call, scope: Scope): ReadonlyNode | undefined {
  const known = run.nodes.get(call.nodeName);
  if (known) return known; // Pods are evaluated before everything else.
  if (!run.pods.has(podNameOf(run.workflow.metadata.name, call.nodeName, template.name ?? ""))) {
    const { parallelism } = run.workflow.spec;
    if (
      run.create.length >= MAX_NEW_PER_RECONCILE ||
      (parallelism !== undefined && parallelism > 0 && run.active >= parallelism)
    )
      return undefined;
    const { inputs: _inputs, retryStrategy: _retryStrategy, ...rest } = template;
    run.create.push(makeNodePod(run.workflow, call.nodeName, substituteAll(rest, scope)));
  }
  run.active++;
  return nodeOf(run, template, call, scope, "Pod", "Pending");
}

function executeSuspend(run: Run, template: ReadonlyTemplate, call: Call, scope: Scope): ReadonlyNode {
  const node = nodeOf(run, template, call, scope, "Suspend", "Running");
  if (template.suspend?.duration === undefined) return node;
  const text = substitute(template.suspend.duration, scope);
  const durationMs = parseDurationMs(text);
  if (durationMs === undefined) throw new WorkflowProblem(`suspend.duration '${text}' is not a duration`);
  const endMs = Date.parse(node.startedAt ?? "") + durationMs;
  if (run.nowMs > endMs) return run.nodes.mark(node, "Succeeded");
  dueAt(run, endMs + 1);
  return node;
}

/** A node that contains the retries; the last one decides. */
function executeWithRetries(run: Run, template: ReadonlyTemplate, call: Call, scope: Scope): ReadonlyNode | undefined {
  const node = nodeOf(run, template, call, scope, "Retry", "Running");
  const tries = (node.children ?? [])
    .flatMap((id) => run.nodes.byId(id) ?? [])
    .filter(({ name }) => name.startsWith(`${call.nodeName}(`));
  const last = tries.at(-1);
  let count = tries.length;
  if (last && isFulfilled(last)) {
    if (!hasFailed(last)) return run.nodes.mark(node, "Succeeded", "");
    const verdict = run.stopped
      ? { fail: node.message ?? last.message ?? "" }
      : nextRetry(template.retryStrategy ?? {}, tries, run.nowMs);
    if ("fail" in verdict) return run.nodes.mark(node, last.phase ?? "Failed", verdict.fail);
    if ("waitUntilMs" in verdict) {
      dueAt(run, verdict.waitUntilMs);
      return run.nodes.mark(node, "Running", verdict.message);
    }
    run.nodes.mark(node, "Running", "");
  } else if (last) count--;
  const child = execute(run, { ...call, nodeName: `${call.nodeName}(${count})`, retries: count });
  // It waits for a slot, or the Workflow was stopped.
  if (!child) return run.stopped ? run.nodes.mark(node, "Failed") : run.nodes.byId(node.id);
  run.nodes.addChild(node.id, child.id);
  if (isFulfilled(child) && !last) return executeWithRetries(run, template, call, scope);
  return run.nodes.byId(node.id);
}
