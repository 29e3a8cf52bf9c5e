/**
 * The nodes of a Workflow's status during a reconcile: every template that ran, runs or was skipped, as a graph.
 *
 * A table starts from the stored nodes and copies a node on its first change, so an unchanged Workflow returns the
 * identical nodes.
 */
import type { WorkflowNodePhase, WorkflowNodeType } from "./workflow-types.ts";
import { formatTime, isObject } from "@flotilla/base";
import { displayNameOf, nodeIdOf } from "./workflow-names.ts";
import type { ReadonlyNode } from "./workflow-names.ts";
import { WorkflowProblem } from "./variables.ts";

/** More than a user can read, and few enough for one stored object. */
const MAX_NODES = 2_000;
/**
 * Limit of the names and inputs of all nodes together. Stores accept objects only slightly larger, and every watcher
 * receives them with every change.
 */
const MAX_CHARACTERS = 1024 * 1024;

export const isFulfilled = ({ phase }: Pick<ReadonlyNode, "phase">): boolean =>
  phase === "Succeeded" || phase === "Failed" || phase === "Error" || phase === "Skipped" || phase === "Omitted";
export const hasFailed = ({ phase }: Pick<ReadonlyNode, "phase">): boolean => phase === "Failed" || phase === "Error";

/** Any client can write the status, so a node may have any shape; an invalid one is rebuilt. */
function isNode(node: unknown): boolean {
  if (!isObject(node) || typeof node["id"] !== "string" || typeof node["name"] !== "string") return false;
  const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
  const isTime = (value: unknown): boolean => value === undefined || value === null || readTime(value) !== undefined;
  const isTexts = (list: unknown): boolean =>
    list === undefined || (Array.isArray(list) && list.every((id) => typeof id === "string"));
  return (
    [node["phase"], node["message"], node["templateName"], node["boundaryID"]].every(isText) &&
    [node["startedAt"], node["finishedAt"]].every(isTime) &&
    [node["children"], node["outboundNodes"]].every(isTexts)
  );
}

/** Undefined for an invalid time. */
export function readTime(value: unknown): number | undefined {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Inputs of stored nodes may have any shape, too, but are not read. */
function charactersOf({ name, inputs }: Pick<NewNode, "name" | "inputs">): number {
  const parameters: readonly unknown[] = Array.isArray(inputs?.parameters) ? inputs.parameters : [];
  return parameters.reduce<number>(
    (sum, parameter) =>
      sum + (isObject(parameter) && typeof parameter["value"] === "string" ? parameter["value"].length : 0),
    name.length,
  );
}

export interface NewNode {
  name: string;
  type: WorkflowNodeType;
  phase: WorkflowNodePhase;
  templateName?: string;
  boundaryID?: string;
  message?: string;
  inputs?: ReadonlyNode["inputs"];
}

export class NodeTable {
  readonly #workflow: string;
  readonly #nowMs: number;
  readonly #nodes: Map<string, ReadonlyNode>;
  #characters = 0;
  #changed = false;

  constructor(workflow: string, nodes: Readonly<Record<string, ReadonlyNode>> | undefined, nowMs: number) {
    this.#workflow = workflow;
    this.#nowMs = nowMs;
    this.#nodes = new Map(Object.entries(nodes ?? {}).filter(([id, node]) => isNode(node) && node.id === id));
    for (const node of this.#nodes.values()) this.#characters += charactersOf(node);
  }

  get changed(): boolean {
    return this.#changed;
  }

  /** A snapshot; later changes do not affect it. */
  all(): ReadonlyNode[] {
    return [...this.#nodes.values()];
  }

  byId(id: string): ReadonlyNode | undefined {
    return this.#nodes.get(id);
  }

  get(name: string): ReadonlyNode | undefined {
    return this.#nodes.get(nodeIdOf(this.#workflow, name));
  }

  add({ name, message, ...rest }: NewNode): ReadonlyNode {
    if (this.#nodes.size >= MAX_NODES) throw new WorkflowProblem(`the Workflow has more than ${MAX_NODES} nodes`);
    this.#characters += charactersOf({ name, ...rest });
    if (this.#characters > MAX_CHARACTERS)
      throw new WorkflowProblem(
        `the names and inputs of the Workflow's nodes have more than ${MAX_CHARACTERS} characters`,
      );
    const now = formatTime(this.#nowMs);
    const id = nodeIdOf(this.#workflow, name);
    const displayName = displayNameOf(name, this.#nodes.get(rest.boundaryID ?? ""));
    const node: ReadonlyNode = {
      id,
      name,
      displayName,
      ...rest,
      templateScope: `local/${this.#workflow}`,
      startedAt: now,
      finishedAt: isFulfilled(rest) ? now : null,
      message: message !== undefined && message !== "" ? message : undefined,
      progress: rest.type === "Pod" ? "0/1" : undefined,
    };
    return this.#put(node);
  }

  /** Sets the phase and message of the node, and the end time when it ends. */
  mark(node: ReadonlyNode, phase: WorkflowNodePhase, message?: string): ReadonlyNode {
    const { message: reported = "", ...rest } = this.#nodes.get(node.id) ?? node;
    const next = message ?? reported;
    if (rest.phase === phase && next === reported) return { ...rest, message: reported !== "" ? reported : undefined };
    const finishedAt = isFulfilled({ phase }) ? (rest.finishedAt ?? formatTime(this.#nowMs)) : null;
    return this.#put({ ...rest, phase, finishedAt, message: next !== "" ? next : undefined });
  }

  set(node: ReadonlyNode, fields: Partial<ReadonlyNode>): ReadonlyNode {
    return this.#put({ ...(this.#nodes.get(node.id) ?? node), ...fields });
  }

  addChild(parentId: string, childId: string): void {
    const parent = this.#nodes.get(parentId);
    if (!parent || parentId === childId || parent.children?.includes(childId)) return;
    this.#put({ ...parent, children: [...(parent.children ?? []), childId] });
  }

  /** The last nodes of this one, to which following nodes are attached. */
  outbound(id: string, seen = new Set<string>()): string[] {
    const node = this.#nodes.get(id);
    if (!node || seen.has(id)) return [];
    seen.add(id);
    if (node.type === "Steps" || node.type === "DAG")
      return node.outboundNodes && node.outboundNodes.length > 0 ? [...node.outboundNodes] : [id];
    const children = node.children ?? [];
    if (node.type === "Retry" && children.length > 0) return this.outbound(children.at(-1) ?? "", seen);
    if (node.type === "TaskGroup" && children.length > 0)
      return [...new Set(children.flatMap((child) => this.outbound(child, seen)))];
    return [id];
  }

  toRecord(): Record<string, ReadonlyNode> {
    return Object.fromEntries(this.#nodes);
  }

  #put(node: ReadonlyNode): ReadonlyNode {
    this.#nodes.set(node.id, node);
    this.#changed = true;
    return node;
  }
}
