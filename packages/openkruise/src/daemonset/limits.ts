/**
 * The limits of an Advanced DaemonSet: burst, unavailability, surge and partition. Percentages are relative to the
 * nodes that should run a pod. Pure.
 */
import { strictShare } from "../int-or-percent.ts";
import type { IntOrPercent, Rounding } from "../int-or-percent.ts";
import type { DaemonView, ReadonlyDaemonSet } from "./nodes.ts";

type RollingUpdate = NonNullable<NonNullable<ReadonlyDaemonSet["spec"]["updateStrategy"]>["rollingUpdate"]>;

export const isRolling = ({ spec }: ReadonlyDaemonSet): boolean =>
  (spec.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate";
export const rollingOf = (set: ReadonlyDaemonSet): RollingUpdate =>
  isRolling(set) ? (set.spec.updateStrategy?.rollingUpdate ?? {}) : {};

/** An invalid value bypassed the webhook and counts as 0. */
const share = (value: IntOrPercent | undefined, total: number, rounding: Rounding): number =>
  value === undefined ? 0 : (strictShare(value, total, rounding) ?? 0);

const DEFAULT_BURST = 250;

/** The most pods that one reconcile creates, and deletes. */
export function burstOf({ spec, status }: ReadonlyDaemonSet): number {
  return share(spec.burstReplicas ?? DEFAULT_BURST, status?.desiredNumberScheduled ?? 0, "down");
}

/**
 * The number of nodes that keep their old pod. Rounded down, unlike CloneSet's, and relative to the nodes in the last
 * status.
 */
export function partitionOf(set: ReadonlyDaemonSet): number {
  return share(rollingOf(set).partition, set.status?.desiredNumberScheduled ?? 0, "down");
}

/** Whether a percentage depends on the counts in the status. */
export const usesShares = (set: ReadonlyDaemonSet): boolean =>
  typeof set.spec.burstReplicas === "string" || typeof rollingOf(set).partition === "string";

export interface UpdateLimits {
  maxSurge: number;
  maxUnavailable: number;
}

export function updateLimits({ set, nodes }: DaemonView): UpdateLimits {
  const desired = nodes.filter(({ shouldRun }) => shouldRun).length;
  const maxSurge = surgeOf(set, desired);
  const maxUnavailable = share(rollingOf(set).maxUnavailable, desired, "up");
  // With neither, the update would never progress.
  return { maxSurge, maxUnavailable: desired > 0 && maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

const surgeOf = (set: ReadonlyDaemonSet, desired: number): number => share(rollingOf(set).maxSurge, desired, "up");

/** Whether more than one pod may run on a node. */
export const surges = (set: ReadonlyDaemonSet): boolean => surgeOf(set, 1) > 0;

/** The nodes that get a pod now. With `partitionedScaling` the partition also excludes nodes that never had one. */
export function nodesToFill(
  nodes: readonly string[],
  {
    updated,
    desired,
    partition,
    isPartitioned,
  }: { updated: number; desired: number; partition: number; isPartitioned: boolean },
): string[] {
  const sorted = nodes.toSorted();
  if (!isPartitioned) return sorted;
  const held = Math.max(0, Math.min(partition, desired));
  return sorted.slice(0, Math.max(0, desired - updated - held));
}
