/**
 * Whether a pod may run on a node, and if not, kube-scheduler's reason, in its order: the first rule that excludes the
 * node is reported. An exclusion caused by other pods may end when they leave; a final one does not.
 */
import { UNSCHEDULABLE_TAINT } from "@flotilla/kubernetes";
import type { AffinityRules } from "./pod-affinity.ts";
import type { NodeView } from "./cluster-view.ts";
import { isRepelled, toleratesTaint, wantsNode } from "./node-rules.ts";
import { portsCollide } from "./pod-view.ts";
import type { PodView } from "./pod-view.ts";
import type { SpreadRules } from "./spread.ts";

export interface Exclusion {
  readonly reasons: readonly string[];
  /** No pod that leaves the node would help. */
  readonly isFinal: boolean;
}

/** The rules for one pod, computed once and applied to every node. */
export interface Rules {
  readonly affinity: AffinityRules | undefined;
  readonly spread: SpreadRules | undefined;
  /** The node check of the pod's volumes. */
  readonly volumes: ((node: NodeView) => string | undefined) | undefined;
}

const CORDONED = { key: UNSCHEDULABLE_TAINT, effect: "NoSchedule" } as const;
const final = (reason: string): Exclusion => ({ reasons: [reason], isFinal: true });
const passing = (reason: string): Exclusion => ({ reasons: [reason], isFinal: false });

const UNSCHEDULABLE = final("node(s) were unschedulable");
const TAINTED = final("node(s) had untolerated taint(s)");
const UNWANTED = final("node(s) didn't match Pod's node affinity/selector");
const PORTS_TAKEN = passing("node(s) didn't have free ports for the requested pod ports");

/** Shared, because nearly every call for every node and pod returns it. */
const NO_PODS: readonly PodView[] = [];

/** Undefined if the pod fits. */
export function whyNot(pod: PodView, node: NodeView, rules: Rules): Exclusion | undefined {
  if (node.node.spec?.unschedulable && !toleratesTaint(pod.pod, CORDONED)) return UNSCHEDULABLE;
  if (isRepelled(pod.pod, node.node)) return TAINTED;
  if (!wantsNode(pod.pod, node.node)) return UNWANTED;
  return whyNoRoom(pod, node) ?? whyNotBeside(node, rules);
}

function whyNotBeside(node: NodeView, { affinity, spread, volumes }: Rules): Exclusion | undefined {
  const volume = volumes?.(node);
  if (volume !== undefined) return final(volume);
  const uneven = spread?.refuse(node);
  if (uneven) return { reasons: [uneven.reason], isFinal: uneven.isFinal };
  const company = affinity?.refuse(node);
  return company === undefined ? undefined : passing(company);
}

/** Ports and resources. Nominated pods that wait for victims count as if they already ran on the node. */
function whyNoRoom(pod: PodView, { load, allocatable }: NodeView): Exclusion | undefined {
  const waiting =
    load.nominated.size === 0
      ? NO_PODS
      : [...load.nominated.values()].filter(({ uid, priority }) => uid !== pod.uid && priority >= pod.priority);
  if (pod.hostPorts.length > 0) {
    for (const other of [...load.withPorts, ...waiting])
      if (
        other.uid !== pod.uid &&
        other.hostPorts.some((taken) => pod.hostPorts.some((port) => portsCollide(port, taken)))
      )
        return PORTS_TAKEN;
  }
  let reasons: string[] | undefined;
  let isFinal = false;
  const others = load.pods.size + waiting.length - (load.pods.has(pod.uid) ? 1 : 0);
  const places = (allocatable.get("pods") ?? 0) / 1000;
  if (others + 1 > places) {
    (reasons ??= []).push("Too many pods");
    isFinal ||= places < 1;
  }
  for (const [name, wanted] of pod.requests) {
    if (wanted === 0) continue;
    const total = allocatable.get(name) ?? 0;
    let used = load.used.get(name) ?? 0;
    for (const other of waiting) used += other.requests.get(name) ?? 0;
    if (used + wanted <= total) continue;
    (reasons ??= []).push(`Insufficient ${name}`);
    isFinal ||= wanted > total;
  }
  return reasons && { reasons, isFinal };
}
