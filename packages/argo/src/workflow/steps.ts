/** Steps: groups of templates that run in parallel, one group after the other. */
import { expand } from "./expand.ts";
import type { ReadonlyNode, ReadonlyTemplate } from "./workflow-names.ts";
import { hasFailed, isFulfilled } from "./node-table.ts";
import { nodeOf } from "./run-workflow.ts";
import type { Call, Run } from "./run-workflow.ts";
import { hasRoom, isTolerated, noteResult, startStep } from "./step.ts";
import type { Step } from "./step.ts";
import type { Scope } from "./variables.ts";

export function runSteps(run: Run, template: ReadonlyTemplate, call: Call, outer: Scope): ReadonlyNode {
  const { nodes } = run;
  const node = nodeOf(run, template, call, outer, "Steps", "Running");
  const scope = new Map(outer);
  let ends: string[] = [node.id];
  for (const [index, steps] of (template.steps ?? []).entries()) {
    const name = `${call.nodeName}[${index}]`;
    if (run.stopped && !nodes.get(name)) return stoppedNode(run, node);
    const group = nodes.get(name) ?? nodes.add({ name, type: "StepGroup", phase: "Running", boundaryID: node.id });
    for (const end of ends) nodes.addChild(end, group.id);
    const result = isFulfilled(group)
      ? group
      : runGroup(run, template, call, { steps, group, boundaryID: node.id, scope });
    if (!isFulfilled(result)) return run.stopped ? stoppedNode(run, node) : (nodes.byId(node.id) ?? node);
    const children = nodes.byId(group.id)?.children ?? [];
    const outbound = children.flatMap((child) => nodes.outbound(child));
    ends = outbound.length > 0 ? [...new Set(outbound)] : [group.id];
    if (hasFailed(result)) {
      nodes.set(node, { outboundNodes: ends });
      return nodes.mark(node, "Failed", result.message ?? "");
    }
    for (const { name: step = "" } of steps) noteResult(run, scope, `steps.${step}`, `${name}.${step}`);
  }
  nodes.set(node, { outboundNodes: ends });
  return nodes.mark(node, "Succeeded");
}

/** Nothing more starts; running nodes have been stopped. */
function stoppedNode({ nodes }: Run, node: ReadonlyNode): ReadonlyNode {
  const isBusy = nodes
    .all()
    .some(({ boundaryID, type, phase }) => boundaryID === node.id && type !== "StepGroup" && !isFulfilled({ phase }));
  if (isBusy) return node;
  for (const group of nodes.all()) if (group.boundaryID === node.id && !isFulfilled(group)) nodes.mark(group, "Failed");
  return nodes.mark(node, "Failed");
}

function runGroup(
  run: Run,
  template: ReadonlyTemplate,
  call: Call,
  {
    steps,
    group,
    boundaryID,
    scope,
  }: { steps: readonly Step[]; group: ReadonlyNode; boundaryID: string; scope: Scope },
): ReadonlyNode {
  const { nodes } = run;
  const continues = new Map<string, Step>();
  let waits = false;
  let isFull = false;
  for (const step of steps) {
    for (const { name, scope: own } of expand(step.name ?? "", step, scope)) {
      const nodeName = `${group.name}.${name}`;
      const known = nodes.get(nodeName);
      if (!known && run.stopped) continue;
      // Nodes that end free their slot only for the next reconcile, so they need not be counted again for every waiting
      // item.
      isFull ||= !known && !hasRoom(run, template, boundaryID);
      if (!known && isFull) {
        waits = true;
        continue;
      }
      const child = known?.type === "Skipped" ? known : startStep(run, call, step, nodeName, boundaryID, own());
      if (!child) {
        waits = true;
        continue;
      }
      continues.set(child.id, step);
      nodes.addChild(group.id, child.id);
    }
  }
  const children = (nodes.byId(group.id)?.children ?? []).flatMap((id) => nodes.byId(id) ?? []);
  if (waits || !children.every(isFulfilled)) return nodes.byId(group.id) ?? group;
  const failed = children.find((child) => hasFailed(child) && !isTolerated(continues.get(child.id), child));
  return failed ? nodes.mark(group, "Failed", `child '${failed.id}' failed`) : nodes.mark(group, "Succeeded");
}
