/** The nodes of a member as an Advanced DaemonSet sees them, and predicates on their pods. Pure. */
import type { AdvancedDaemonSet } from "./daemonset-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { isAvailable, isUpdated, viewNodes } from "@flotilla/kubernetes";
import type { NodeView, NodeViews, ReadonlyNode, ReadonlyPod } from "@flotilla/kubernetes";
import { lifecycleState } from "../lifecycle/lifecycle.ts";

export type ReadonlyDaemonSet = DeepReadonly<AdvancedDaemonSet>;

/** Includes terminating pods. */
export interface DaemonView extends NodeViews {
  set: ReadonlyDaemonSet;
  /** The hash of the newest template, a label of updated pods. */
  hash: string;
  nowMs: number;
}

export function viewDaemonSet(
  set: ReadonlyDaemonSet,
  nodes: readonly ReadonlyNode[],
  pods: readonly ReadonlyPod[],
  hash: string,
  nowMs: number,
): DaemonView {
  return { set, ...viewNodes(set, nodes, pods), hash, nowMs };
}

export const isLive = ({ metadata }: ReadonlyPod): boolean => metadata.deletionTimestamp === undefined;
export const isPreparingDelete = (pod: ReadonlyPod): boolean => lifecycleState(pod) === "PreparingDelete";
/** No pod, or one that is about to be deleted. */
export const isLeaving = (pod: ReadonlyPod | undefined): boolean => pod === undefined || isPreparingDelete(pod);

export const works = ({ set, nowMs }: DaemonView, pod: ReadonlyPod): boolean =>
  isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);

/** The pods of one node by their template. */
export interface Versions {
  updated?: ReadonlyPod;
  old?: ReadonlyPod;
  /** More pods than an update needs; `manage.ts` deletes the excess. */
  isCrowded: boolean;
}

export function versionsOn({ set, hash }: DaemonView, { pods }: NodeView): Versions {
  const live = pods.filter(isLive);
  const updated = live.filter((pod) => isUpdated(set, pod, hash));
  const old = live.filter((pod) => !isUpdated(set, pod, hash));
  if (updated.length > 1 || old.length > 1) return { isCrowded: true };
  return { updated: updated[0], old: old[0], isCrowded: false };
}
