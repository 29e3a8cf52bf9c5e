/**
 * Plans the next step of a Workflow: its desired status, pods to create and to delete, and the time of the next
 * reconcile. Pure.
 */
import type { Pod, ReadonlyPod } from "@flotilla/kubernetes";
import type { WorkflowPhase, WorkflowStatus } from "./workflow-types.ts";
import { formatTime, isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { readSpec } from "./read-workflow-spec.ts";
import { execute } from "./execute.ts";
import { argumentsOf } from "./expand.ts";
import { podNameOf } from "./workflow-names.ts";
import type { ReadonlyNode, ReadonlyWorkflow } from "./workflow-names.ts";
import { NodeTable, hasFailed, isFulfilled, readTime } from "./node-table.ts";
import { exitCodeOf, phaseOfPod } from "./pods.ts";
import { noteProgress } from "./progress.ts";
import { dueAt } from "./run-workflow.ts";
import type { Run } from "./run-workflow.ts";
import { WorkflowProblem, asText, checkChoice } from "./variables.ts";
import type { Scope } from "./variables.ts";

export interface WorkflowPlan {
  status: DeepReadonly<WorkflowStatus>;
  create: readonly DeepReadonly<Pod>[];
  /** Pods that are no longer needed. */
  remove: readonly ReadonlyPod[];
  /** Time until the next reconcile, in milliseconds. */
  againInMs?: number;
}

const PHASES: Readonly<Record<string, WorkflowPhase>> = {
  Pending: "Running",
  Running: "Running",
  Succeeded: "Succeeded",
  Skipped: "Succeeded",
  Omitted: "Succeeded",
  Failed: "Failed",
  Error: "Error",
};

export const isOver = ({ phase }: Pick<DeepReadonly<WorkflowStatus>, "phase">): boolean =>
  phase === "Succeeded" || phase === "Failed" || phase === "Error";

/** Only for unfinished Workflows. `pods` are those that it owns. */
export function planWorkflow(given: ReadonlyWorkflow, pods: readonly ReadonlyPod[], nowMs: number): WorkflowPlan {
  const before = readable(given.status ?? {});
  const startedAt = before.startedAt ?? formatTime(nowMs);
  const end = (phase: WorkflowPhase, message: string): WorkflowPlan => ({
    status: { ...ended({ ...before, startedAt }, phase, message, nowMs) },
    create: [],
    remove: pods.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed"),
  });
  const read = readSpec(given);
  if ("problem" in read) return end("Error", `invalid spec: ${read.problem}`);
  const workflow = { ...given, spec: read.spec };

  const nodes = new NodeTable(workflow.metadata.name, before.nodes, nowMs);
  const remove: ReadonlyPod[] = [];
  try {
    const run: Run = {
      workflow,
      nodes,
      pods: new Map(pods.map((pod) => [pod.metadata.name, pod])),
      nowMs,
      globals: globalsOf(workflow),
      create: [],
      execute,
      active: 0,
    };
    followPods(run);
    const stop = stopReason(workflow, Date.parse(startedAt), run);
    if (stop !== undefined) {
      run.stopped = true;
      stopNodes(run, stop, remove);
    }
    if (workflow.spec.suspend && !run.stopped)
      return { status: running(run, before, startedAt), create: [], remove, ...again(run) };
    run.active = nodes.all().filter((node) => node.type === "Pod" && !isFulfilled(node)).length;
    const result = advance(run);
    if (result === undefined)
      return { status: running(run, before, startedAt), create: run.create, remove, ...again(run) };
    const progress = noteProgress(nodes);
    return {
      status: ended({ ...before, startedAt, progress, nodes: nodes.toRecord() }, result.phase, result.message, nowMs),
      create: [],
      remove,
    };
  } catch (error) {
    if (error instanceof WorkflowProblem) return end("Error", `error in entry template execution: ${error.message}`);
    throw error;
  }
}

/** Any client that writes the object can write the status too; invalid parts are dropped. */
function readable(status: DeepReadonly<WorkflowStatus>): DeepReadonly<WorkflowStatus> {
  const { startedAt, conditions, ...rest } = status;
  return {
    ...rest,
    startedAt: readTime(startedAt) !== undefined ? startedAt : undefined,
    conditions: areObjects(conditions) ? conditions : undefined,
  };
}

const areObjects = (list: unknown): boolean => Array.isArray(list) && list.every((item) => isObject(item));

/** The status in which the nodes of rejected pods contain the reason. */
export function withRejectedPods(
  workflow: ReadonlyWorkflow,
  status: DeepReadonly<WorkflowStatus>,
  refused: ReadonlyMap<string, string>,
  nowMs: number,
): DeepReadonly<WorkflowStatus> {
  const nodes = new NodeTable(workflow.metadata.name, status.nodes, nowMs);
  for (const node of nodes.all()) {
    const why =
      node.type === "Pod"
        ? refused.get(podNameOf(workflow.metadata.name, node.name, node.templateName ?? ""))
        : undefined;
    if (why !== undefined) nodes.mark(node, "Error", why);
  }
  return { ...status, nodes: nodes.toRecord() };
}

/** Runs the main template and then the exit handler; returns the result of the Workflow once it has one. */
function advance(run: Run): { phase: WorkflowPhase; message: string } | undefined {
  const { spec, metadata } = run.workflow;
  const parameters = argumentsOf(spec.arguments, run.globals);
  const node = execute(run, { nodeName: metadata.name, template: spec.entrypoint ?? "", parameters, depth: 0 });
  if (!node) return run.stopped ? { phase: "Failed", message: stoppedMessage(run.workflow) ?? "" } : undefined;
  if (!isFulfilled(node)) return undefined;
  const phase = PHASES[node.phase ?? ""] ?? "Running";
  const exit = spec.onExit === undefined || spec.shutdown === "Terminate" ? undefined : runExit(run, phase, parameters);
  if (exit && !isFulfilled(exit)) return undefined;
  if (phase === "Succeeded" && exit && hasFailed(exit))
    return { phase: PHASES[exit.phase ?? ""] ?? "Failed", message: exit.message ?? "" };
  return {
    phase,
    message: hasFailed(node) ? (stoppedMessage(run.workflow) ?? node.message ?? "") : (node.message ?? ""),
  };
}

function runExit(run: Run, phase: WorkflowPhase, parameters: ReadonlyMap<string, string>): ReadonlyNode {
  const { spec, metadata } = run.workflow;
  const nodeName = `${metadata.name}.onExit`;
  // The exit handler runs even if the rest was stopped.
  const free: Run = { ...run, globals: new Map([...run.globals, ["workflow.status", phase]]), stopped: false };
  const node = execute(free, { nodeName, template: spec.onExit ?? "", parameters, depth: 0 });
  if (free.dueMs !== undefined) dueAt(run, free.dueMs);
  return node ?? { id: "", name: nodeName, displayName: nodeName, type: "Pod", phase: "Pending" };
}

/** Updates pod nodes from their pods. A pod that disappeared before it ended was deleted by a client. */
function followPods({ workflow, nodes, pods }: Run): void {
  for (const node of nodes.all()) {
    if (node.type !== "Pod" || isFulfilled(node)) continue;
    const pod = pods.get(podNameOf(workflow.metadata.name, node.name, node.templateName ?? ""));
    if (!pod) {
      nodes.mark(node, "Error", "pod deleted");
      continue;
    }
    const { phase, message } = phaseOfPod(pod);
    const exitCode = exitCodeOf(pod);
    const host = pod.spec.nodeName;
    if (host && node.hostNodeName !== host) nodes.set(node, { hostNodeName: host });
    if (exitCode !== undefined && node.outputs?.exitCode !== exitCode) nodes.set(node, { outputs: { exitCode } });
    nodes.mark(node, phase, message);
  }
}

/** Why nothing new may start, if so. */
function stopReason(workflow: ReadonlyWorkflow, startedMs: number, run: Run): string | undefined {
  const stopped = stoppedMessage(workflow);
  if (stopped !== undefined) return stopped;
  const { activeDeadlineSeconds } = workflow.spec;
  if (activeDeadlineSeconds === undefined) return undefined;
  const deadlineMs = startedMs + activeDeadlineSeconds * 1000;
  if (run.nowMs > deadlineMs) return "Step exceeded its deadline";
  dueAt(run, deadlineMs + 1);
  return undefined;
}

function stoppedMessage({ spec }: ReadonlyWorkflow): string | undefined {
  return spec.shutdown ? `Stopped with strategy '${spec.shutdown}'` : undefined;
}

/** Ends running nodes; the exit handler continues unless the Workflow is terminated. */
function stopNodes({ workflow, nodes, pods }: Run, message: string, remove: ReadonlyPod[]): void {
  const exit = `${workflow.metadata.name}.onExit`;
  for (const node of nodes.all()) {
    const isExit =
      node.name === exit ||
      node.name.startsWith(`${exit}.`) ||
      node.name.startsWith(`${exit}[`) ||
      node.name.startsWith(`${exit}(`);
    if (isFulfilled(node) || (isExit && workflow.spec.shutdown !== "Terminate")) continue;
    if (node.type !== "Pod" && node.type !== "Suspend") continue;
    nodes.mark(node, "Failed", message);
    const pod = pods.get(podNameOf(workflow.metadata.name, node.name, node.templateName ?? ""));
    if (pod && !pod.metadata.deletionTimestamp) remove.push(pod);
  }
}

function globalsOf(workflow: ReadonlyWorkflow): Scope {
  const { metadata, spec } = workflow;
  const scope = new Map([
    ["workflow.name", metadata.name],
    ["workflow.namespace", metadata.namespace ?? ""],
    ["workflow.uid", metadata.uid ?? ""],
    ["workflow.serviceAccountName", spec.serviceAccountName ?? "default"],
    ["workflow.creationTimestamp", metadata.creationTimestamp ?? ""],
  ]);
  for (const [key, value] of Object.entries(metadata.labels ?? {})) scope.set(`workflow.labels.${key}`, value);
  for (const [key, value] of Object.entries(metadata.annotations ?? {}))
    scope.set(`workflow.annotations.${key}`, value);
  for (const { name, value, default: fallback, enum: choices } of spec.arguments?.parameters ?? []) {
    const given = value ?? fallback;
    if (given === undefined) throw new WorkflowProblem(`spec.arguments.${name}.value is required`);
    checkChoice(`spec.arguments.${name}.value`, asText(given), choices);
    scope.set(`workflow.parameters.${name}`, asText(given));
  }
  return scope;
}

function running(
  { nodes }: Run,
  before: DeepReadonly<WorkflowStatus>,
  startedAt: string,
): DeepReadonly<WorkflowStatus> {
  const progress = noteProgress(nodes);
  return {
    ...before,
    phase: "Running",
    startedAt,
    finishedAt: null,
    progress,
    nodes: nodes.changed || !before.nodes ? nodes.toRecord() : before.nodes,
  };
}

function ended(
  status: DeepReadonly<WorkflowStatus>,
  phase: WorkflowPhase,
  message: string,
  nowMs: number,
): DeepReadonly<WorkflowStatus> {
  const { message: _old, ...rest } = status;
  return {
    ...rest,
    phase,
    finishedAt: formatTime(nowMs),
    message: message !== "" ? message : undefined,
    conditions: [
      ...(rest.conditions ?? []).filter(({ type }) => type !== "Completed"),
      { type: "Completed", status: "True" },
    ],
  };
}

const again = ({ dueMs, nowMs }: Run): { againInMs?: number } =>
  dueMs === undefined ? {} : { againInMs: Math.max(0, dueMs - nowMs) };
