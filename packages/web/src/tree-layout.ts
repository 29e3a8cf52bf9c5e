/**
 * The tree of a workload: policy and template, binding, one branch per member, pods. Branches in the same state are
 * folded into one, so that a thousand members fit; what is wrong stays open. Pure.
 */
import type { CopyRow, Health, ObjectView } from "./wire.ts";

export interface TreeNode {
  id: string;
  title: string;
  detail: string;
  health: Health;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Opens another view. */
  opens?: "policy" | "binding" | "template" | { member: string } | { fold: Health };
  copy?: CopyRow;
  pods?: CopyRow["pods"];
}

export interface TreeLayout {
  nodes: TreeNode[];
  edges: { from: string; to: string; health: Health }[];
  width: number;
  height: number;
}

const ROW = 58;
const NODE = { width: 168, height: 44 };
const STEP = 212;
const PODS_WIDTH = 240;
/** More branches than this are folded by state. */
const MOST_OPEN = 12;
const MOST_NODES = 60;

export function layoutTree(
  view: ObjectView,
  unfolded: ReadonlySet<Health>,
  words: (health: Health, count: number) => string,
): TreeLayout {
  const { copies } = view;
  const worst = worstOf(copies);
  const groups = new Map<Health, CopyRow[]>();
  for (const copy of copies) groups.set(copy.health, [...(groups.get(copy.health) ?? []), copy]);
  const branches: ({ copy: CopyRow } | { fold: Health; copies: CopyRow[] })[] = [];
  for (const health of ["failed", "stale", "progressing", "unknown", "healthy"] as const) {
    const group = groups.get(health) ?? [];
    const isOpen =
      copies.length <= MOST_OPEN || unfolded.has(health) || (health === "failed" && group.length <= MOST_OPEN);
    if (isOpen) {
      branches.push(...group.slice(0, MOST_NODES).map((copy) => ({ copy })));
      if (group.length > MOST_NODES) branches.push({ fold: health, copies: group.slice(MOST_NODES) });
    } else if (group.length > 0) branches.push({ fold: health, copies: group });
  }
  const height = Math.max(1, branches.length) * ROW;
  const middle = height / 2;
  const box = (column: number, centre: number) => ({
    x: column * STEP,
    y: centre - NODE.height / 2,
    width: NODE.width,
    height: NODE.height,
  });
  const nodes: TreeNode[] = [
    {
      id: "template",
      title: view.ref.name,
      detail: view.ref.kind,
      health: view.template === undefined ? "failed" : worst,
      opens: "template",
      ...box(0, middle),
    },
  ];
  const edges: TreeLayout["edges"] = [];
  const scheduled = view.conditions.find(({ type }) => type === "Scheduled");
  const bindingHealth: Health = view.binding === "" ? "failed" : scheduled?.status === "False" ? "failed" : worst;
  nodes.push({
    id: "binding",
    title: view.binding === "" ? "–" : view.policy,
    detail: view.binding,
    health: bindingHealth,
    opens: "policy",
    ...box(1, middle),
  });
  edges.push({ from: "template", to: "binding", health: bindingHealth });
  for (const [index, branch] of branches.entries()) {
    const centre = index * ROW + ROW / 2;
    if ("copy" in branch) {
      const { copy } = branch;
      const id = `copy ${copy.member}`;
      nodes.push({
        id,
        title: copy.member,
        detail: "",
        health: copy.health,
        opens: { member: copy.member },
        copy,
        ...box(2, centre),
      });
      edges.push({ from: "binding", to: id, health: copy.health });
      if (copy.pods.length > 0) {
        nodes.push({
          id: `pods ${copy.member}`,
          title: "",
          detail: "",
          health: copy.health,
          pods: copy.pods,
          copy,
          ...box(3, centre),
          width: PODS_WIDTH,
        });
        edges.push({ from: id, to: `pods ${copy.member}`, health: copy.health });
      }
    } else {
      const id = `fold ${branch.fold} ${index}`;
      nodes.push({
        id,
        title: words(branch.fold, branch.copies.length),
        detail: "",
        health: branch.fold,
        opens: { fold: branch.fold },
        ...box(2, centre),
      });
      edges.push({ from: "binding", to: id, health: branch.fold });
    }
  }
  return { nodes, edges, width: 3 * STEP + PODS_WIDTH, height };
}

const ORDER: readonly Health[] = ["failed", "stale", "progressing", "unknown", "healthy"];
const worstOf = (copies: readonly CopyRow[]): Health =>
  ORDER.find((health) => copies.some((copy) => copy.health === health)) ?? "unknown";
