/** DAG: tasks that start as soon as their dependencies have ended with the required result. */
import type { WorkflowTask } from "./workflow-types.ts";
import type { DeepReadonly } from "@flotilla/base";
import { holds, isWhen, tasksIn } from "./task-expressions.ts";
import { expand, isExpanded } from "./expand.ts";
import type { ReadonlyNode, ReadonlyTemplate } from "./workflow-names.ts";
import { hasFailed, isFulfilled } from "./node-table.ts";
import { nodeOf } from "./run-workflow.ts";
import type { Call, Run } from "./run-workflow.ts";
import { hasRoom, isTolerated, noteResult, startStep } from "./step.ts";
import { taskOrder } from "./task-order.ts";
import { WorkflowProblem, substitute } from "./variables.ts";
import type { Scope } from "./variables.ts";

type Task = DeepReadonly<WorkflowTask & { withParam?: string }>;

/** State of one DAG during a reconcile. */
interface Graph {
  run: Run;
  template: ReadonlyTemplate;
  call: Call;
  node: ReadonlyNode;
  scope: Scope;
  /** By name. */
  tasks: ReadonlyMap<string, Task>;
  /** Results of branches, computed on demand. */
  phases: Map<string, NonNullable<ReadonlyNode["phase"]>>;
}

export function runDag(run: Run, template: ReadonlyTemplate, call: Call, scope: Scope): ReadonlyNode {
  const { nodes } = run;
  const node = nodeOf(run, template, call, scope, "DAG", "Running");
  const graph: Graph = {
    run,
    template,
    call,
    node,
    scope,
    tasks: new Map((template.dag?.tasks ?? []).map((task) => [task.name, task])),
    phases: new Map(),
  };
  // In dependency order: a task that ends at once (omitted or without a pod) lets its dependents start in the same
  // reconcile.
  const wanted = wantedTasks(graph);
  const results = new Map(scope);
  for (const task of wanted) {
    startTask(graph, task, results);
    noteResult(run, results, `tasks.${task.name}`, `${call.nodeName}.${task.name}`);
  }
  const isOpen = wanted.some((task) => !isFulfilled(nodeOfTask(graph, task.name) ?? {}));
  const isBusy = wanted.some((task) => !isFulfilled(nodeOfTask(graph, task.name) ?? { phase: "Omitted" }));
  if (run.stopped ? isBusy : isOpen) return nodes.byId(node.id) ?? node;
  const targets = targetsOf(graph);
  nodes.set(node, {
    outboundNodes: [...new Set(targets.flatMap(({ name }) => nodes.outbound(nodeOfTask(graph, name)?.id ?? "")))],
  });
  if (run.stopped && isOpen) return nodes.mark(node, "Failed");
  const failed = targets.find((task) => {
    const phase = branchPhase(graph, task);
    return hasFailed({ phase }) && !isTolerated(task, { phase } as ReadonlyNode);
  });
  return nodes.mark(node, failed ? branchPhase(graph, failed) : "Succeeded");
}

const nodeOfTask = ({ run, call }: Graph, name: string): ReadonlyNode | undefined =>
  run.nodes.get(`${call.nodeName}.${name}`);
const needsOf = ({ dependencies, depends }: Task): readonly string[] => dependencies ?? tasksIn(depends ?? "");

/** The targets of the DAG: those named, or those on which no other task depends. */
function targetsOf({ template, tasks }: Graph): Task[] {
  const named = (template.dag?.target ?? "").split(" ").filter(Boolean);
  const needed = new Set([...tasks.values()].flatMap(needsOf));
  return [...tasks.values()].filter(({ name }) => (named.length > 0 ? named.includes(name) : !needed.has(name)));
}

/** The targets and all their dependencies, in dependency order. */
function wantedTasks(graph: Graph): Task[] {
  const wanted = new Map<string, readonly string[]>();
  const waiting = targetsOf(graph);
  for (let task = waiting.pop(); task; task = waiting.pop()) {
    if (wanted.has(task.name)) continue;
    wanted.set(task.name, needsOf(task));
    for (const need of needsOf(task)) if (!wanted.has(need)) waiting.push(...present(graph.tasks.get(need)));
  }
  return (taskOrder(wanted) ?? []).flatMap((name) => present(graph.tasks.get(name)));
}

const present = <T>(item: T | undefined): T[] => (item === undefined ? [] : [item]);

/** `scope` contains the results of earlier tasks. */
function startTask(graph: Graph, task: Task, scope: Scope): void {
  const { run, call, node, template } = graph;
  const { nodes } = run;
  const nodeName = `${call.nodeName}.${task.name}`;
  const known = nodes.get(nodeName);
  if (known && isFulfilled(known)) return;
  const needs = needsOf(task).map((name) => nodeOfTask(graph, name));
  if (!needs.every((need) => need !== undefined && isFulfilled(need))) return;
  if (!known && run.stopped) return;
  const attach = (child: ReadonlyNode): void => {
    const parents = needs.length > 0 ? needs.flatMap((need) => nodes.outbound(need?.id ?? "")) : [node.id];
    for (const parent of parents) nodes.addChild(parent, child.id);
  };
  if (!known && !isReadyFor(graph, task)) {
    attach(
      nodes.add({
        name: nodeName,
        type: "Skipped",
        phase: "Omitted",
        templateName: task.template ?? "",
        boundaryID: node.id,
        message: "omitted: depends condition not met",
      }),
    );
    return;
  }
  if (!known && !hasRoom(run, template, node.id)) return;
  const child = isExpanded(task)
    ? startGroup(graph, task, nodeName, scope)
    : startStep(run, call, task, nodeName, node.id, scope);
  if (child) attach(child);
}

/** A node for the task as a whole, with one child per item. */
function startGroup({ run, call, node, template }: Graph, task: Task, nodeName: string, scope: Scope): ReadonlyNode {
  const { nodes } = run;
  const made = { name: nodeName, templateName: task.template ?? "", boundaryID: node.id };
  try {
    const when = substitute(/\{\{\s*item/.test(task.when ?? "") ? "" : (task.when ?? ""), scope);
    if (!nodes.get(nodeName) && when !== "" && !isWhen(when))
      return nodes.add({ ...made, type: "Skipped", phase: "Skipped", message: `when '${when}' evaluated false` });
    const group = nodes.get(nodeName) ?? nodes.add({ ...made, type: "TaskGroup", phase: "Running" });
    let waits = false;
    let isFull = false;
    for (const { name, scope: own } of expand(task.name, task, scope)) {
      const childName = `${call.nodeName}.${name}`;
      const isNew = !nodes.get(childName);
      isFull ||= isNew && !hasRoom(run, template, node.id);
      if (isNew && (run.stopped || isFull)) {
        waits = !run.stopped;
        continue;
      }
      const child = startStep(run, call, task, childName, node.id, own());
      if (child) nodes.addChild(group.id, child.id);
      else waits = true;
    }
    const children = (nodes.byId(group.id)?.children ?? []).flatMap((id) => nodes.byId(id) ?? []);
    if (waits || !children.every(isFulfilled)) return nodes.byId(group.id) ?? group;
    const failed = children.find(hasFailed);
    return nodes.mark(group, failed?.phase ?? "Succeeded");
  } catch (error) {
    if (!(error instanceof WorkflowProblem)) throw error;
    const known = nodes.get(nodeName);
    return known
      ? nodes.mark(known, "Error", error.message)
      : nodes.add({ ...made, type: "Skipped", phase: "Error", message: error.message });
  }
}

/** Whether the task's dependencies ended with the required result. */
function isReadyFor(graph: Graph, { depends, dependencies }: Task): boolean {
  const text = dependencies ? dependencies.join(" && ") : (depends ?? "");
  if (text.trim() === "") return true;
  return holds(text, (name, result) => {
    const node = nodeOfTask(graph, name);
    const task = graph.tasks.get(name);
    if (!node) return false;
    if (result === undefined) return node.phase === "Succeeded" || node.phase === "Skipped" || isTolerated(task, node);
    const children = (node.children ?? [])
      .flatMap((id) => graph.run.nodes.byId(id) ?? [])
      .filter(({ name: childName }) => childName.startsWith(`${node.name}(`));
    switch (result) {
      case "Succeeded":
      case "Failed":
      case "Skipped":
      case "Omitted":
        return node.phase === result;
      case "Errored":
        return node.phase === "Error";
      case "Daemoned":
        return false; // Daemon templates are not supported.
      case "AnySucceeded":
        return children.some(({ phase }) => phase === "Succeeded");
      case "AllFailed":
        return children.length > 0 && children.every(({ phase }) => phase === "Failed");
      default:
        throw new WorkflowProblem(`invalid depends '${text}': tasks have no result ${result}`);
    }
  });
}

/**
 * The result of the branch that ends with this task: an omitted task takes the result of the tasks before it, and a
 * failure dominates.
 */
function branchPhase(graph: Graph, task: Task): NonNullable<ReadonlyNode["phase"]> {
  const known = graph.phases.get(task.name);
  if (known !== undefined) return known;
  let phase = nodeOfTask(graph, task.name)?.phase ?? "Omitted";
  if (phase === "Omitted" || phase === "Skipped") {
    const before = needsOf(task)
      .flatMap((name) => present(graph.tasks.get(name)))
      .map((need) => branchPhase(graph, need));
    phase = before.find((one) => one === "Failed" || one === "Error") ?? "Succeeded";
  }
  graph.phases.set(task.name, phase);
  return phase;
}
