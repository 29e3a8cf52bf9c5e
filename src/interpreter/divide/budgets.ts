/**
 * The budgets of an update, `maxUnavailable` and `maxSurge`, over several clusters. They are worked out once, on the
 * pods of the fleet, and split as whole numbers by size: rounding up in each cluster would take down a pod more in
 * every one.
 *
 * The split is fixed for a division; it does not follow which cluster is busy. So that no cluster stands still, a
 * budget that is not zero gives each of them at least one, which for a budget smaller than the number of clusters is
 * more than was asked for. Handing such a budget from cluster to cluster needs a count of what is in flight, which a
 * division does not have.
 */
import { isObject } from "../../base/index.ts";
import { DivideError } from "./divide-error.ts";
import { percentOf, splitUpdated, sumOf, type IntOrPercent } from "./split-partition.ts";

export interface Budgets {
  maxUnavailable?: IntOrPercent;
  maxSurge?: IntOrPercent;
}

/** The fields of a strategy that name budgets, replaced by each cluster's part. Sizes are the pods of the clusters. */
export function splitBudgets<T extends Budgets>(strategy: T, sizes: readonly number[]): T[] {
  const { maxUnavailable, maxSurge } = strategy;
  const total = sumOf(sizes);
  const surge = amountOf(maxSurge, total, "ceil");
  // Where pods can be added first, the kinds round down what may be missing.
  const unavailable = amountOf(maxUnavailable, total, surge !== undefined && surge > 0 ? "floor" : "ceil");
  // Without surge and without unavailability nothing moves, and the kinds refuse it: one of the two is kept above zero.
  const surges =
    surge === undefined ? undefined : split(surge, sizes, maxUnavailable !== undefined && unavailable === 0);
  const unavailables = unavailable === undefined ? undefined : split(unavailable, sizes, true);
  return sizes.map((_size, index) => ({
    ...strategy,
    ...(unavailables && { maxUnavailable: unavailables[index] }),
    ...(surges && { maxSurge: surges[index] }),
  }));
}

/**
 * For kinds whose members alone know their pods. A percentage is of a member's own pods and stays; a number is split
 * evenly, because a split by size would rewrite every copy whenever a pod comes or goes anywhere.
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

/**
 * `scaleStrategy.maxUnavailable` limits how many pods are created at once; it is split like the budget of an update.
 */
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

/** A percentage of anything but nothing is at least one: the kinds would not move otherwise. */
function amountOf(value: IntOrPercent | undefined, total: number, rounding: "ceil" | "floor"): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number") return Math.max(0, Math.trunc(value));
  // The kinds read a text without a sign as a percentage, too.
  const percent = percentOf(value.endsWith("%") ? value : `${value}%`);
  if (percent === undefined)
    throw new DivideError(
      `dividing the budget of an update: ${JSON.stringify(value)} is neither a number nor a percentage`,
    );
  const amount = Math[rounding]((percent * total) / 100);
  return percent > 0 ? Math.max(rounding === "ceil" ? 1 : 0, amount) : 0;
}
