/**
 * Determines how many pods each subset of a UnitedDeployment has on each member. The numbers of a subset are resolved
 * once against the fleet's replicas, as the kind itself would; then each is split over the members in declared order.
 * The result adds up in both directions: over the members to the subset, and over the subsets to the member.
 */
import type { DeepReadonly } from "@flotilla/base";
import { DivideError } from "../divide/divide-error.ts";
import { splitUpdated, sumOf, type IntOrPercent } from "../divide/split-partition.ts";

export interface Subset {
  name?: string;
  replicas?: IntOrPercent;
  minReplicas?: IntOrPercent;
  maxReplicas?: IntOrPercent;
}

/** A subset on one member. */
export interface SubsetShare {
  pods: number;
  /** Set if the subset has limits. */
  limits?: { min: number; max: number | undefined };
}

type Subsets = readonly DeepReadonly<Subset>[];

/** By subset, then by member. */
export function shareSubsets(subsets: Subsets, sizes: readonly number[]): SubsetShare[][] {
  const total = sumOf(sizes);
  const rest = [...sizes];
  const take = (amount: number): number[] => {
    const taken = splitUpdated(rest, Math.min(amount, sumOf(rest)));
    for (const [index, count] of taken.entries()) rest[index] = (rest[index] ?? 0) - count;
    return taken;
  };
  if (!isElastic(subsets)) return fixedAmounts(subsets, total).map((amount) => take(amount).map((pods) => ({ pods })));
  const limits = subsets.map((subset) => limitsOf(subset, total));
  const amounts = elasticAmounts(limits, total);
  return amounts.map((amount, position) => {
    const { min, max } = limits[position] ?? { min: 0, max: undefined };
    const pods = take(amount);
    const mins = splitUpdated(pods, Math.min(min, sumOf(pods)));
    // The fleet's remaining room in this subset is split by size; a member's limit is never below its running pods.
    const room = max === undefined ? undefined : splitUpdated(sizes, Math.max(0, Math.min(max, total) - amount));
    return pods.map((count, index) => ({
      pods: count,
      limits: { min: mins[index] ?? 0, max: room && count + (room[index] ?? 0) },
    }));
  });
}

export const isElastic = (subsets: Subsets): boolean =>
  subsets.some(({ minReplicas, maxReplicas }) => minReplicas !== undefined || maxReplicas !== undefined);

/** Subsets without replicas share the remainder evenly. The rounding difference is assigned to the last one. */
function fixedAmounts(subsets: Subsets, total: number): number[] {
  let left = total;
  const named = subsets.map(({ replicas }) => {
    if (replicas === undefined) return undefined;
    const amount = Math.min(left, amountOf(replicas, total));
    left -= amount;
    return amount;
  });
  let open = named.filter((amount) => amount === undefined).length;
  const amounts = named.map((amount) => {
    if (amount !== undefined) return amount;
    const part = Math.floor(left / open--);
    left -= part;
    return part;
  });
  return amounts.map((amount, position) => (position === amounts.length - 1 ? amount + left : amount));
}

/** Fills the lower limits in declared order, then up to the upper limits in the same order. */
function elasticAmounts(limits: readonly { min: number; max: number | undefined }[], total: number): number[] {
  let left = total;
  const give = (amount: number): number => {
    const given = Math.min(left, Math.max(0, amount));
    left -= given;
    return given;
  };
  const amounts = limits.map(({ min }) => give(min));
  const filled = amounts.map(
    (amount, position) => amount + give((limits[position]?.max ?? Number.POSITIVE_INFINITY) - amount),
  );
  return filled.map((amount, position) => (position === filled.length - 1 ? amount + left : amount));
}

function limitsOf(
  { replicas, minReplicas, maxReplicas }: DeepReadonly<Subset>,
  total: number,
): { min: number; max: number | undefined } {
  if (replicas !== undefined) return { min: amountOf(replicas, total), max: amountOf(replicas, total) };
  return {
    min: amountOf(minReplicas ?? 0, total),
    max: maxReplicas === undefined ? undefined : amountOf(maxReplicas, total),
  };
}

/** Halves of a percentage are rounded up, as the kind does. */
function amountOf(value: IntOrPercent, total: number): number {
  if (typeof value === "number") return Math.max(0, value);
  const percent = /^(\d{1,3})%$/.exec(value)?.[1];
  if (percent === undefined)
    throw new DivideError(`dividing subsets: ${JSON.stringify(value)} is neither a number nor a whole percentage`);
  return Math.floor((Number(percent) * total) / 100 + 0.5);
}
