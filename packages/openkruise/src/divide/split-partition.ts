/**
 * The arithmetic of a partition over several clusters. A partition is the number of pods that stay at the old revision;
 * it is resolved once, against the pods of the whole fleet, and split as whole numbers. Rounding it in each cluster
 * would update one pod too many, or none forever, in every cluster.
 */
import { DivideError } from "./divide-error.ts";

export type IntOrPercent = number | string;

/**
 * Which clusters are updated first: all in proportion, one after another, or the canaries one after another and then
 * the others in proportion. The marks are indexed like the sizes.
 */
export type UpdateOrder = "spread" | "ordered" | { readonly canaries: readonly boolean[] };

const PERCENT = /^(\d{1,9}(?:\.\d{1,9})?)%$/;
/** Holds every pod at the old revision, including pods of a later scale-out; a number could not. */
export const HOLD = "100%";

/** Pods of `total` kept at the old revision. Any percentage except 100% lets at least one pod through. */
export function keptPods(
  partition: IntOrPercent | undefined,
  total: number,
  rounding: "ceil" | "floor" = "ceil",
): number {
  if (partition === undefined) return 0;
  if (typeof partition === "number") return Math.min(Math.max(0, Math.trunc(partition)), total);
  const percent = percentOf(partition);
  if (percent === undefined)
    throw new DivideError(
      `dividing a rollout: partition ${JSON.stringify(partition)} is neither a number nor a percentage`,
    );
  const kept = Math.min(total, Math[rounding]((percent * total) / 100));
  return rounding === "ceil" && total > 1 && kept === total && partition !== HOLD ? total - 1 : kept;
}

/** The number in `"30%"`; undefined for any other text. */
export function percentOf(text: string): number | undefined {
  const percent = PERCENT.exec(text)?.[1];
  return percent === undefined ? undefined : Number(percent);
}

export const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** The number of pods that a possibly edited copy lets through: an invalid partition lets none through. */
export function letThrough(
  partition: IntOrPercent | undefined,
  total: number,
  rounding: "ceil" | "floor" = "ceil",
): number {
  if (typeof partition === "string" && percentOf(partition) === undefined) return 0;
  return total - keptPods(partition, total, rounding);
}

/**
 * The number of updated pods in each cluster for a fleet total of `updated`: adds up exactly, and never exceeds a
 * cluster's size.
 */
export function splitUpdated(sizes: readonly number[], updated: number, order: UpdateOrder = "spread"): number[] {
  if (order === "ordered") return fillInOrder(sizes, updated);
  if (order === "spread") return spread(sizes, updated);
  const first = fillInOrder(
    sizes.map((size, index) => (order.canaries[index] ? size : 0)),
    updated,
  );
  const then = spread(
    sizes.map((size, index) => (order.canaries[index] ? 0 : size)),
    updated - sumOf(first),
  );
  return first.map((count, index) => count + (then[index] ?? 0));
}

function fillInOrder(sizes: readonly number[], updated: number): number[] {
  let rest = updated;
  return sizes.map((size) => {
    const taken = Math.min(size, rest);
    rest -= taken;
    return taken;
  });
}

/**
 * One update order for the fleet: pod k of a cluster of r pods has the key (2k-1)/2r, and the lowest keys are updated
 * first. So every cluster proceeds in proportion to its size, and raising the total never rolls a pod back.
 *
 * For n clusters, all but about 1.5n of the chosen pods follow from the total alone; only those near the boundary are
 * sorted, so the cost depends on the clusters and not on the pods.
 */
function spread(sizes: readonly number[], updated: number): number[] {
  const total = sumOf(sizes);
  if (updated >= total) return [...sizes];
  const clusters = sizes.length;
  const chosenBelow = (size: number, key: number): number => Math.min(size, Math.max(0, Math.floor(size * key + 0.5)));
  const certain = sizes.map((size) => chosenBelow(size, (updated - clusters) / total));
  const edge: { cluster: number; key: number }[] = [];
  for (const [cluster, size] of sizes.entries()) {
    const last = Math.min(size, chosenBelow(size, (updated + clusters) / total) + 1);
    for (let pod = (certain[cluster] ?? 0) + 1; pod <= last; pod++)
      edge.push({ cluster, key: (2 * pod - 1) / (2 * size) });
  }
  edge.sort((a, b) => a.key - b.key || a.cluster - b.cluster);
  const missing = updated - sumOf(certain);
  for (const { cluster } of edge.slice(0, Math.max(0, missing))) certain[cluster] = (certain[cluster] ?? 0) + 1;
  return certain;
}

/** A cluster's partition; a cluster that updates nothing is held, regardless of later scaling. */
export function partitionFor(size: number, updated: number): IntOrPercent {
  return updated === 0 ? HOLD : size - updated;
}
