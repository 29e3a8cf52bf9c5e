/** How much of a Workflow is done: `2/5` pods. A node that holds others adds theirs up. */
import type { ReadonlyNode } from "./names.ts";
import type { NodeTable } from "./node-table.ts";

interface Progress {
  done: number;
  all: number;
}

const written = ({ done, all }: Progress): string => `${done}/${all}`;
const isDone = ({ phase }: ReadonlyNode): boolean => phase === "Succeeded" || phase === "Skipped" || phase === "Omitted";

/** Notes the progress of every node that has one, and answers that of all. */
export function noteProgress(nodes: NodeTable): string {
  const total: Progress = { done: 0, all: 0 };
  for (const node of nodes.all()) {
    if (node.type !== "Pod") continue;
    total.all++;
    if (isDone(node)) total.done++;
    note(nodes, node, isDone(node) ? "1/1" : "0/1");
  }
  for (const node of nodes.all()) {
    if (node.type === "Pod") continue;
    const own: Progress = { done: 0, all: 0 };
    addPods(nodes, node, own, new Set());
    if (own.all > 0) note(nodes, node, written(own));
  }
  return written(total);
}

function note(nodes: NodeTable, node: ReadonlyNode, progress: string): void {
  if (node.progress !== progress) nodes.set(node, { progress });
}

function addPods(nodes: NodeTable, top: ReadonlyNode, sum: Progress, seen: Set<string>): void {
  const waiting = [top];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (seen.has(node.id)) continue;
    seen.add(node.id);
    if (node.type === "Pod") {
      sum.all++;
      if (isDone(node)) sum.done++;
    }
    for (const id of node.children ?? []) {
      const child = nodes.byId(id);
      if (child) waiting.push(child);
    }
  }
}
