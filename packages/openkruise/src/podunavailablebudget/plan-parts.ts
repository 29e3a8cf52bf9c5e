/**
 * Plans the parts of a budget that is one number for the fleet. Pure.
 *
 * A member enforces its part alone, and a part that changes is in effect there only when the member reports it. So a
 * part of `maxUnavailable` grows only by what no member can use any more, and a part of `minAvailable` shrinks only by
 * what other members guarantee already: at no time do the members together allow more than the budget.
 */
import { splitUpdated, sumOf } from "../divide/split-partition.ts";

/** What is known of one member; undefined: it is not known how many pods it has. */
export interface MemberPods {
  readonly size: number | undefined;
  /** Unavailable pods. */
  readonly unavailable: number;
  /** The member has pods to update, so it needs a part of at least one. */
  readonly isUpdating: boolean;
  /** The part that the member may be enforcing; undefined if it enforces none yet. */
  readonly inEffect: number | undefined;
  /** The member gets no part any more; the one in effect counts until it is gone. */
  readonly isLeaving?: boolean;
}

/** The parts of `maxUnavailable`, indexed like the members. */
export function planUnavailable(budget: number, members: readonly MemberPods[]): number[] {
  const targets = targetsOf(budget, members);
  let free = budget - sumOf(members.map(({ inEffect = 0 }) => inEffect));
  return targets.map((target, index) => {
    const inEffect = members[index]?.inEffect ?? 0;
    const raised = Math.min(Math.max(0, target - inEffect), Math.max(0, free));
    free -= raised;
    return Math.min(target, inEffect) + raised;
  });
}

/** The parts of `minAvailable`, indexed like the members. */
export function planAvailable(budget: number, members: readonly MemberPods[]): number[] {
  const targets = guaranteesOf(budget, members);
  let surplus = sumOf(members.map(({ inEffect = 0, isLeaving }) => (isLeaving ? 0 : inEffect))) - budget;
  return targets.map((target, index) => {
    const inEffect = members[index]?.inEffect;
    if (inEffect === undefined || target >= inEffect) return target;
    const lowered = Math.min(inEffect - target, Math.max(0, surplus));
    surplus -= lowered;
    return inEffect - lowered;
  });
}

/**
 * First what members need that have a part already, so that a release finishes on one before the next gets any; then
 * what the others need; and the rest in proportion to the pods.
 */
function targetsOf(budget: number, members: readonly MemberPods[]): number[] {
  const parts = members.map(() => 0);
  let left = budget;
  const raise = (index: number, to: number): void => {
    const raised = Math.min(left, Math.max(0, to - (parts[index] ?? 0)));
    parts[index] = (parts[index] ?? 0) + raised;
    left -= raised;
  };
  // A member with unavailable pods uses the budget, whether it has a part or not.
  const needs = members.map(({ size, unavailable, isUpdating, isLeaving }) =>
    isLeaving || size === 0 ? 0 : Math.max(unavailable, isUpdating ? 1 : 0),
  );
  for (const [index, { inEffect = 0 }] of members.entries()) raise(index, Math.min(needs[index] ?? 0, inEffect));
  for (const [index, need] of needs.entries()) raise(index, need);
  for (const [index, part] of inProportion(budget, members).entries()) raise(index, part);
  return parts;
}

/** What the members must keep available together, less what each may have unavailable. */
function guaranteesOf(budget: number, members: readonly MemberPods[]): number[] {
  const sizes = members.map(({ size, isLeaving }) => (isLeaving ? 0 : size));
  const allowed = sumOf(sizes.map((size) => size ?? 0)) - budget;
  if (allowed <= 0 || sizes.includes(undefined)) return inProportion(budget, members);
  return targetsOf(allowed, members).map((part, index) => Math.max(0, (sizes[index] ?? 0) - part));
}

/**
 * Exact in sum. While no member has reported pods each has the same weight; otherwise one that has not reported gets
 * nothing yet.
 */
export function inProportion(amount: number, members: readonly Pick<MemberPods, "size" | "isLeaving">[]): number[] {
  const sizes = members.map(({ size, isLeaving }) => (isLeaving ? 0 : (size ?? 0)));
  const hasPods = sumOf(sizes) > 0;
  const weights = hasPods ? sizes : members.map(({ isLeaving }) => (isLeaving ? 0 : 1));
  const total = sumOf(weights);
  if (total === 0) return weights;
  // An amount above the number of pods is divided as well.
  const times = Math.max(1, Math.ceil(amount / total));
  const scaled = weights.map((weight) => weight * times);
  return splitUpdated(scaled, amount);
}
