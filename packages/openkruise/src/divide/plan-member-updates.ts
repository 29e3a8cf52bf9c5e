/**
 * Plans how many pods of each member run a release while there is a template to roll back to. Eventually they add up to
 * exactly what the partition demands; until then there are never more:
 *
 * - A held member, which gets no copies at the moment, counts with the last number known to be requested from it. The
 * others compensate.
 * - A member is raised only by free pods. Pods that another member may still run, because they were requested before or
 * it has not been lowered yet, are not free; its next report frees them.
 * - A member with too many updated pods is written backward (`member-stage.ts`), unless it shrinks by that much anyway.
 * One that does not do what a backward copy asks for keeps that copy: it is not sent the templates in turn.
 * - One that has pods of more than two templates returns in steps (`plan-return.ts`).
 */
import type { MemberStage } from "./member-stage.ts";
import { planReturn, type ReturnLayer, type ReturnPlan } from "./plan-return.ts";
import { planUpdated } from "./plan-updated.ts";
import type { RolloutOrder } from "./rollout-order.ts";
import { splitUpdated, sumOf, type UpdateOrder } from "./split-partition.ts";

export interface RolloutMember {
  /** Its assigned replicas. */
  readonly size: number;
  /** What its copy requests in this release; undefined when the copy belongs to another release or does not exist. */
  readonly was?: MemberStage;
  /** Pods of the release in its last report. */
  readonly seen: number;
  /** All pods in its last report. */
  readonly pods: number;
  /** Its last report refers to its current copy. */
  readonly isAcknowledged: boolean;
  /** Pods that it starts by itself have the release's template, because it completed the release once. */
  readonly isThrough: boolean;
  /** It gets no copies at the moment. */
  readonly isHeld: boolean;
  /** An override decides its partition. */
  readonly isPinned: boolean;
  /** It is new, and is created with the previous template. */
  readonly isJoining: boolean;
  /** Whether it can be given the previous template, and would keep back the pods that the copy's partition names. */
  readonly canGoBack: boolean;
  /** It was given the previous template for the same request, and does not keep the pods that the copy names. */
  readonly hasFailedBack: boolean;
  /** Set if it may have pods of more than two templates: the earlier templates that its pods can return to. */
  readonly layers?: readonly ReturnLayer[];
  /** Pods that have the template of its backward copy, as last reported. */
  readonly counted?: number;
}

/** A member that is no longer a target counts as long as its copy exists. */
export type LeavingMember = Pick<RolloutMember, "was" | "seen" | "isAcknowledged">;

export interface MemberUpdatePlan extends ReturnPlan {
  /** The number that may have been requested before. */
  readonly peak: number;
}

export function planMemberUpdates(
  members: readonly RolloutMember[],
  leaving: readonly LeavingMember[],
  demanded: number,
  order: RolloutOrder,
): MemberUpdatePlan[] {
  const sizes = members.map(({ size }) => size);
  // Nothing is kept back any longer, so nothing needs to be counted.
  if (demanded >= sumOf(sizes)) return sizes.map((size) => ({ updated: size, isBackward: false, peak: 0 }));
  const gone = sumOf(leaving.map(({ was, seen, isAcknowledged }) => mayRun(was, seen, isAcknowledged)));
  const wanted = fleetTargets(members, sizes, Math.max(0, demanded - gone), order);
  const granted = raiseByFreePods(members, wanted, demanded - gone);
  return members.map((member, index) => {
    const updated = granted[index] ?? 0;
    const { was, isAcknowledged } = member;
    const plan = directed(member, updated);
    const kept = Math.max(was?.step?.keeps ?? 0, plan.step?.keeps ?? 0);
    const peak = Math.max(was?.updated ?? 0, kept, isAcknowledged ? 0 : (was?.peak ?? 0));
    return { ...plan, peak };
  });
}

function directed(member: RolloutMember, updated: number): ReturnPlan {
  const { was, layers, isJoining, hasFailedBack, isPinned, canGoBack } = member;
  if (!layers || isJoining) return { updated, isBackward: movesBackward(member, updated) };
  if (hasFailedBack && was) return was;
  return canGoBack && !isPinned ? planReturn({ ...member, layers }, updated) : { updated, isBackward: false };
}

/** The final state that the members move towards. */
function fleetTargets(
  members: readonly RolloutMember[],
  sizes: readonly number[],
  demanded: number,
  order: RolloutOrder,
): number[] {
  const floors = members.map(({ was, size }) => Math.min(size, was?.updated ?? 0));
  const isFixed = members.map(
    (member) =>
      member.isHeld ||
      member.isPinned ||
      member.isJoining ||
      member.hasFailedBack ||
      (member.was?.isBackward === true && !isSettled(member)),
  );
  const fixed = floors.map((floor, index) => (isFixed[index] ? floor : 0));
  const bySplit: UpdateOrder = order === "hold" ? "spread" : order;
  const rest = demanded - sumOf(fixed);
  // No other member can be lowered: held members are lowered when they are back.
  if (rest < 0) return lowered(sizes, fixed, demanded, bySplit);
  const free = sizes.map((size, index) => (isFixed[index] ? 0 : size));
  const before = floors.map((floor, index) => (isFixed[index] ? 0 : floor));
  const updated = Math.min(rest, order === "hold" ? sumOf(before) : sumOf(free));
  const planned =
    updated < sumOf(before)
      ? lowered(free, before, updated, bySplit)
      : planUpdated({ sizes: free, updated, order: bySplit, before });
  return planned.map((count, index) => count + (fixed[index] ?? 0));
}

/** No member is raised when the fleet total is lowered. */
function lowered(sizes: readonly number[], before: readonly number[], updated: number, order: UpdateOrder): number[] {
  const counts = splitUpdated(sizes, updated, order).map((count, index) => Math.min(count, before[index] ?? 0));
  const room = before.map((count, index) => count - (counts[index] ?? 0));
  const more = splitUpdated(room, Math.min(sumOf(room), updated - sumOf(counts)), order);
  return counts.map((count, index) => count + (more[index] ?? 0));
}

/** Members are lowered at once and raised by free pods. */
function raiseByFreePods(members: readonly RolloutMember[], wanted: readonly number[], demanded: number): number[] {
  const held = members.map(({ was, seen, isAcknowledged }) => mayRun(was, seen, isAcknowledged));
  let free = demanded - sumOf(held);
  return wanted.map((count, index) => {
    const has = held[index] ?? 0;
    if (count <= has) return count;
    const more = Math.max(0, Math.min(free, count - has));
    free -= more;
    return has + more;
  });
}

/** The maximum of the current request, an earlier unacknowledged request, and the reported number. */
function mayRun(was: MemberStage | undefined, seen: number, isAcknowledged: boolean): number {
  return Math.max(was?.updated ?? 0, isAcknowledged ? 0 : (was?.peak ?? 0), seen);
}

/** It has all its pods, and they belong to its current copy. */
function isSettled({ isAcknowledged, pods, size }: RolloutMember): boolean {
  return isAcknowledged && pods >= size;
}

function movesBackward(member: RolloutMember, updated: number): boolean {
  const { was, size, seen, isAcknowledged, isThrough, isHeld, isPinned, isJoining, canGoBack } = member;
  if (isJoining || member.hasFailedBack) return true;
  if (!canGoBack || isPinned) return false;
  if (isHeld && updated === (was?.updated ?? 0)) return was?.isBackward ?? false;
  const isBack = was?.isBackward === true;
  if (updated >= size && (!isBack || isSettled(member))) return false;
  // Forward it would start all missing pods with the release.
  if (isThrough && size > (was?.replicas ?? size)) return true;
  const has = mayRun(was, seen, isAcknowledged);
  if (isBack) return updated <= (isSettled(member) ? seen : has);
  // It replaces lost pods by pods of the release, also those that it keeps back. First it gets as many as requested.
  if (isThrough && isAcknowledged) return updated <= seen;
  // A shrinking member deletes the release's pods if its partition keeps more back.
  return has - updated > Math.max(0, (was?.replicas ?? size) - size);
}
