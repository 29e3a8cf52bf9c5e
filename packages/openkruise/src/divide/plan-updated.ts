/**
 * Plans how many pods of each cluster a stage updates, given the progress of each cluster. A cluster's target is never
 * lowered within a release: moved replicas or a percentage that rounds differently would otherwise pause a running
 * update. The excess of clusters that are ahead is first taken from clusters that have not started, then from the
 * growth of the others.
 */
import { splitUpdated, sumOf, type UpdateOrder } from "./split-partition.ts";

export interface StagePlan {
  readonly sizes: readonly number[];
  /** Pods that the stage updates in the fleet. */
  readonly updated: number;
  readonly order: UpdateOrder;
  /** The target of each cluster so far in this release; 0 where it has not started. */
  readonly before: readonly number[];
}

/** The result adds up to `updated`, or to the existing progress if that is more. */
export function planUpdated({ sizes, updated, order, before }: StagePlan): number[] {
  const planned = splitUpdated(sizes, updated, order);
  const floors = sizes.map((size, index) => Math.min(size, before[index] ?? 0));
  const raised = planned.map((count, index) => Math.max(count, floors[index] ?? 0));
  const excess = sumOf(raised) - updated;
  if (excess <= 0) return raised;

  const isWaiting = floors.map((floor) => floor === 0);
  const waiting = sumOf(planned.filter((_count, index) => isWaiting[index]));
  const starting = splitUpdated(masked(sizes, isWaiting), Math.max(0, waiting - excess), order);
  const started = fillAbove(
    masked(
      sizes,
      isWaiting.map((each) => !each),
    ),
    floors,
    updated - sumOf(starting),
    order,
  );
  return started.map((count, index) => count + (starting[index] ?? 0));
}

/**
 * Splits with a lower bound for each cluster. A cluster that would get less than its bound gets the bound, and the rest
 * is split over the others. This ends after a few rounds, because each round settles at least one cluster.
 */
function fillAbove(sizes: readonly number[], floors: readonly number[], updated: number, order: UpdateOrder): number[] {
  const isOpen = sizes.map(() => true);
  for (;;) {
    const settled = sumOf(floors.filter((_floor, index) => !isOpen[index]));
    const split = splitUpdated(masked(sizes, isOpen), Math.max(0, updated - settled), order);
    let isDone = true;
    for (const [index, floor] of floors.entries()) {
      if (!isOpen[index] || (split[index] ?? 0) >= floor) continue;
      isOpen[index] = false;
      isDone = false;
    }
    if (isDone) return split.map((count, index) => (isOpen[index] ? count : (floors[index] ?? 0)));
  }
}

/** Clusters that do not take part get size 0; positions are kept. */
const masked = (sizes: readonly number[], takesPart: readonly boolean[]): number[] =>
  sizes.map((size, index) => (takesPart[index] ? size : 0));
