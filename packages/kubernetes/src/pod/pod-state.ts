/**
 * Predicates of workload controllers on a pod: active, ready, available, and the deletion order.
 *
 * Pure functions over a stored pod. An absent field counts as the zero value of its type, as in Kubernetes.
 */
import { POD_DELETION_COST_ANNOTATION } from "../well-known-names.ts";
import type { Pod } from "./pod-kind.ts";
import type { DeepReadonly } from "@flotilla/base";

export type ReadonlyPod = DeepReadonly<Pod>;
type PodCondition = NonNullable<NonNullable<ReadonlyPod["status"]>["conditions"]>[number];

/** Neither finished nor terminating: the pods that count towards replicas. */
export function isActive({ metadata, status }: ReadonlyPod): boolean {
  return status?.phase !== "Succeeded" && status?.phase !== "Failed" && !metadata.deletionTimestamp;
}

export function podCondition(pod: ReadonlyPod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

export function isReady(pod: ReadonlyPod): boolean {
  return podCondition(pod, "Ready")?.status === "True";
}

/** When the pod became ready, in milliseconds; 0 if unknown. */
export function readySinceMs(pod: ReadonlyPod): number {
  const condition = podCondition(pod, "Ready");
  return condition?.status === "True" ? timeMs(condition.lastTransitionTime) : 0;
}

/** Ready for more than `minReadySeconds`; at exactly that second it is not yet available. */
export function isAvailable(pod: ReadonlyPod, minReadySeconds: number, nowMs: number): boolean {
  if (!isReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = readySinceMs(pod);
  return since > 0 && since + minReadySeconds * 1000 < nowMs;
}

/** Milliseconds until the next of these pods becomes available, or undefined if none is about to. */
export function nextAvailableInMs(
  pods: readonly ReadonlyPod[],
  minReadySeconds: number,
  nowMs: number,
): number | undefined {
  if (minReadySeconds === 0) return undefined;
  let next: number | undefined;
  for (const pod of pods) {
    const since = readySinceMs(pod);
    const wait = since + minReadySeconds * 1000 + 1 - nowMs;
    if (since > 0 && wait > 0 && (next === undefined || wait < next)) next = wait;
  }
  return next;
}

/** An int32 in its canonical decimal form; anything else counts as 0. */
export function deletionCost(pod: ReadonlyPod): number {
  const text = pod.metadata.annotations?.[POD_DELETION_COST_ANNOTATION];
  if (text === undefined || !/^(0|-?[1-9]\d{0,9})$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -2_147_483_648 && cost <= 2_147_483_647 ? cost : 0;
}

function maxRestarts(pod: ReadonlyPod): number {
  let most = 0;
  for (const { restartCount } of pod.status?.containerStatuses ?? []) most = Math.max(most, restartCount ?? 0);
  return most;
}

export function timeMs(text: string | null | undefined): number {
  return text ? Date.parse(text) : 0;
}

/** One rule of an ordering: negative if the first pod comes first. */
export type PodRule = (a: ReadonlyPod, b: ReadonlyPod) => number;

const PHASE_ORDER: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const phaseOrder = ({ status }: ReadonlyPod): number => PHASE_ORDER[status?.phase ?? ""] ?? 0;

/** The later time first; an unknown time before every known one. */
function laterFirst(a: number, b: number): number {
  if (a === b) return 0;
  if (a === 0 || b === 0) return a === 0 ? -1 : 1;
  return b - a;
}

export const unassignedFirst: PodRule = (a, b) => Number(Boolean(a.spec?.nodeName)) - Number(Boolean(b.spec?.nodeName));
export const pendingFirst: PodRule = (a, b) => phaseOrder(a) - phaseOrder(b);
export const unreadyFirst: PodRule = (a, b) => Number(isReady(a)) - Number(isReady(b));
export const cheaperFirst: PodRule = (a, b) => deletionCost(a) - deletionCost(b);
export const recentlyReadyFirst: PodRule = (a, b) =>
  isReady(a) && isReady(b) ? laterFirst(readySinceMs(a), readySinceMs(b)) : 0;
export const restartedFirst: PodRule = (a, b) => maxRestarts(b) - maxRestarts(a);
export const newestFirst: PodRule = (a, b) =>
  laterFirst(timeMs(a.metadata.creationTimestamp), timeMs(b.metadata.creationTimestamp));

/** The first rule that distinguishes two pods decides. */
export function inOrder(...rules: readonly PodRule[]): PodRule {
  return (a, b) => {
    for (const rule of rules) {
      const verdict = rule(a, b);
      if (verdict !== 0) return verdict;
    }
    return 0;
  };
}

/** The order in which Kubernetes controllers choose active pods: the least useful first. */
export const activePodsOrder: PodRule = inOrder(
  unassignedFirst,
  pendingFirst,
  unreadyFirst,
  recentlyReadyFirst,
  restartedFirst,
  newestFirst,
);
