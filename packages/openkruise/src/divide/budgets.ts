/**
 * Splits the update budgets `maxUnavailable` and `maxSurge` over several clusters. They are resolved once against the
 * pods of the fleet and split as whole numbers by size: rounding up in each cluster would take down one pod more per
 * cluster.
 *
 * The split is fixed for a division; it does not depend on which cluster is updating. A non-zero budget gives each
 * cluster at least one so that no cluster blocks; for a budget smaller than the number of clusters this exceeds the
 * requested amount. Passing such a budget from cluster to cluster would need a count of updates in flight, which a
 * division does not have.
 */
import { isObject, defined } from "@flotilla/base";
import { DivideError } from "./divide-error.ts";
import { percentOf, splitUpdated, sumOf, type IntOrPercent } from "./split-partition.ts";

export interface Budgets {
  maxUnavailable?: IntOrPercent;
  maxSurge?: IntOrPercent;
}

/** Returns the budget fields of a strategy with each cluster's part. Sizes are the pod counts of the clusters. */
export function splitBudgets<T extends Budgets>(strategy: T, sizes: readonly number[]): T[] {
  const { maxUnavailable, maxSurge } = strategy;
  const total = sumOf(sizes);
  const surge = amountOf(maxSurge, total, "ceil");
  // If surge is allowed, the kinds round `maxUnavailable` down.
  const unavailable = amountOf(maxUnavailable, total, surge !== undefined && surge > 0 ? "floor" : "ceil");
  // Without surge and without unavailability the update blocks, and the kinds reject it: one of the two is kept above
  // zero.
  const surges =
    surge === undefined ? undefined : split(surge, sizes, maxUnavailable !== undefined && unavailable === 0);
  const unavailables = unavailable === undefined ? undefined : split(unavailable, sizes, true);
  return sizes.map((_size, index) => ({
    ...strategy,
    ...defined({
      maxUnavailable: unavailables ? unavailables[index] : undefined,
      maxSurge: surges ? surges[index] : undefined,
    }),
  }));
}

/**
 * For kinds whose pod counts only the members know. A percentage refers to a member's own pods and is kept. A number is
 * split evenly, because a split by size would rewrite every copy whenever a pod is added or removed anywhere.
 */
export function splitBudgetsEvenly<T extends Budgets>(strategy: T, members: number): T[] {
  const fields = (["maxUnavailable", "maxSurge"] as const).filter(
    (field) => typeof strategy[field] === "number" && strategy[field] > 1,
  );
  if (fields.length === 0 || members < 2) return Array.from({ length: members }, () => strategy);
  return Array.from({ length: members }, (_member, index) => ({
    ...strategy,
    ...Object.fromEntries(
      fields.map((field) => [
        field,
        Math.max(1, Math.floor((Number(strategy[field]) + members - 1 - index) / members)),
      ]),
    ),
  }));
}

/** `scaleStrategy.maxUnavailable` limits how many pods are created at once; it is split like an update budget. */
export function splitScaleStrategy(scaleStrategy: unknown, sizes: readonly number[]): unknown[] {
  if (!isObject(scaleStrategy)) return sizes.map(() => scaleStrategy);
  const { maxUnavailable } = scaleStrategy;
  if (typeof maxUnavailable !== "number" && typeof maxUnavailable !== "string") return sizes.map(() => scaleStrategy);
  return splitBudgets({ ...scaleStrategy, maxUnavailable }, sizes);
}

function split(amount: number, sizes: readonly number[], atLeastOne: boolean): number[] {
  const parts = splitUpdated(sizes, Math.min(amount, sumOf(sizes)));
  return atLeastOne && amount > 0 ? parts.map((part) => Math.max(1, part)) : parts;
}

/** A non-zero percentage is at least one; otherwise the update would block. */
function amountOf(value: IntOrPercent | undefined, total: number, rounding: "ceil" | "floor"): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number") return Math.max(0, Math.trunc(value));
  // The kinds also read a string without a percent sign as a percentage.
  const percent = percentOf(value.endsWith("%") ? value : `${value}%`);
  if (percent === undefined)
    throw new DivideError(
      `dividing the budget of an update: ${JSON.stringify(value)} is neither a number nor a percentage`,
    );
  const amount = Math[rounding]((percent * total) / 100);
  return percent > 0 ? Math.max(rounding === "ceil" ? 1 : 0, amount) : 0;
}
