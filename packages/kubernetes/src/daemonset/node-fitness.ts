/**
 * The nodes of a member as a DaemonSet sees them: where its pods should run, where they may stay, and the existing
 * pods. Pure.
 */
import { toleratesTaint, matchesNode as wantsNode } from "../node/node-fit.ts";
import type { Node } from "../node/node-kind.ts";
import { compareText, equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectEvent } from "@flotilla/controller-runtime";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { targetNode, withDaemonTolerations } from "./daemon-pod.ts";
import type { PerNodeSet, ReadonlyDaemonSet } from "./daemon-pod.ts";

export type ReadonlyNode = DeepReadonly<Node>;

export interface NodeView {
  name: string;
  labels: Readonly<Record<string, string>>;
  shouldRun: boolean;
  /** A running pod may stay, although none would be started. */
  mayStay: boolean;
  /** Placed pods first, then the oldest. */
  pods: readonly ReadonlyPod[];
}

/** The pods of a set, node by node. */
export interface NodeViews {
  nodes: readonly NodeView[];
  /** Pods for deleted nodes that will never be placed. */
  lost: readonly ReadonlyPod[];
}

export interface DaemonView extends NodeViews {
  set: ReadonlyDaemonSet;
  nowMs: number;
}

export function viewDaemonSet(
  set: ReadonlyDaemonSet,
  nodes: readonly ReadonlyNode[],
  pods: readonly ReadonlyPod[],
  nowMs: number,
): DaemonView {
  // A finished and terminating pod does not occupy its node.
  const counted = pods.filter(
    ({ metadata, status }) =>
      !(metadata.deletionTimestamp && (status?.phase === "Succeeded" || status?.phase === "Failed")),
  );
  return { set, ...viewNodes(set, nodes, counted), nowMs };
}

export function viewNodes(set: PerNodeSet, nodes: readonly ReadonlyNode[], pods: readonly ReadonlyPod[]): NodeViews {
  const byNode = new Map<string, ReadonlyPod[]>();
  for (const pod of pods) {
    const node = targetNode(pod);
    if (node === undefined) continue;
    const others = byNode.get(node);
    if (others) others.push(pod);
    else byNode.set(node, [pod]);
  }
  const fitsOn = nodeFitness(set);
  const views = nodes.map((node): NodeView => {
    const { name, labels = {} } = node.metadata;
    const onNode = byNode.get(name)?.toSorted(placedAndOldestFirst) ?? [];
    byNode.delete(name);
    return { name, labels, ...fitsOn(node), pods: onNode };
  });
  return { nodes: views, lost: [...byNode.values()].flat().filter(({ spec }) => !spec.nodeName) };
}

type Fitness = Pick<NodeView, "shouldRun" | "mayStay">;

/** Templates and nodes in informers are immutable, and every pod event checks all nodes again. */
const known = new WeakMap<object, WeakMap<ReadonlyNode, Fitness>>();

/** Returns whether a pod of the set should run on a node, and whether a running one may stay. */
export function nodeFitness({ spec }: PerNodeSet): (node: ReadonlyNode) => Fitness {
  const template = { spec: withDaemonTolerations(spec.template.spec ?? { containers: [] }) };
  const fitness = known.get(spec.template) ?? new WeakMap<ReadonlyNode, Fitness>();
  known.set(spec.template, fitness);
  return (node) => {
    let fit = fitness.get(node);
    if (!fit) fitness.set(node, (fit = fits(template, node)));
    return fit;
  };
}

function fits(template: Pick<ReadonlyPod, "spec">, node: ReadonlyNode): Fitness {
  const { nodeName } = template.spec;
  if ((nodeName && nodeName !== node.metadata.name) || !wantsNode(template, node))
    return { shouldRun: false, mayStay: false };
  const untolerated =
    node.spec?.taints?.filter((taint) => taint.effect !== "PreferNoSchedule" && !toleratesTaint(template, taint)) ?? [];
  return { shouldRun: untolerated.length === 0, mayStay: !untolerated.some(({ effect }) => effect === "NoExecute") };
}

function placedAndOldestFirst(a: ReadonlyPod, b: ReadonlyPod): number {
  return (
    Number(!a.spec.nodeName) - Number(!b.spec.nodeName) ||
    compareText(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
    compareText(a.metadata.name, b.metadata.name)
  );
}

/** Node heartbeats do not affect a DaemonSet. */
export function changesPlaces({ object, old, deleted }: ObjectEvent<Node>): boolean {
  if (!old || deleted) return true;
  return !equalJson(old.metadata.labels, object.metadata.labels) || !equalJson(old.spec?.taints, object.spec?.taints);
}
