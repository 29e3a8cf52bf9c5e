/**
 * How many pods of each member run a release, while there is a template to go back to. In the end they add up to
 * exactly what the partition demands; on the way there are never more:
 *
 * - A member that gets no copies at the moment counts with what it was last known to be asked for. The others make up
 * for it.
 * - A member goes up only by what is free. What another may still run, because it was asked for it before or has not
 * gone down yet, is not free; its next report says when it is.
 * - A member that has more than it should goes backward (`member-stage.ts`), unless it shrinks by that much anyway.
 */
import type { MemberStage } from "./member-stage.ts";
import { planUpdated } from "./plan-updated.ts";
import type { RolloutOrder } from "./rollout-order.ts";
import { splitUpdated, sumOf, type UpdateOrder } from "./split-partition.ts";

export interface RolloutMember {
  /** Replicas that it gets. */
  readonly size: number;
  /** What its copy asks for in this release; undefined when the copy is of another one, or there is none. */
  readonly was?: MemberStage;
  /** Pods that it last reported to run the release. */
  readonly seen: number;
  /** All of its pods that it last reported. */
  readonly pods: number;
  /** Its last report is about the copy that it has. */
  readonly isAcknowledged: boolean;
  /** Pods that it starts by itself have the release's template, because it was through with it once. */
  readonly isThrough: boolean;
  /** It gets no copies at the moment. */
  readonly isHeld: boolean;
  /** An override decides its partition. */
  readonly isPinned: boolean;
  /** It is new, and is created with the template before the release. */
  readonly isJoining: boolean;
  /** Whether it can be given the template before the release. */
  readonly canGoBack: boolean;
}

/** One that is no target any more counts for as long as its copy is there. */
export type LeavingMember = Pick<RolloutMember, "was" | "seen" | "isAcknowledged">;

export interface RolloutPlan {
  readonly updated: number;
  readonly isBackward: boolean;
  /** What it may have been asked for before. */
  readonly peak: number;
}

export function planRollout(
  members: readonly RolloutMember[],
  leaving: readonly LeavingMember[],
  demanded: number,
  order: RolloutOrder,
): RolloutPlan[] {
  const sizes = members.map(({ size }) => size);
  // Nothing is kept back any more, so nothing needs to be counted.
  if (demanded >= sumOf(sizes)) return sizes.map((size) => ({ updated: size, isBackward: false, peak: 0 }));
  const gone = sumOf(leaving.map(({ was, seen, isAcknowledged }) => mayRun(was, seen, isAcknowledged)));
  const wanted = wantedOf(members, sizes, Math.max(0, demanded - gone), order);
  const granted = grant(members, wanted, demanded - gone);
  return members.map((member, index) => {
    const updated = granted[index] ?? 0;
    const { was, isAcknowledged } = member;
    const peak = Math.max(was?.updated ?? 0, isAcknowledged ? 0 : (was?.peak ?? 0));
    return { updated, isBackward: goesBackward(member, updated), peak };
  });
}

/** The end that the members go towards. */
function wantedOf(
  members: readonly RolloutMember[],
  sizes: readonly number[],
  demanded: number,
  order: RolloutOrder,
): number[] {
  const floors = members.map(({ was, size }) => Math.min(size, was?.updated ?? 0));
  const isFixed = members.map(
    (member) =>
      member.isHeld || member.isPinned || member.isJoining || (member.was?.isBackward === true && !isSettled(member)),
  );
  const fixed = floors.map((floor, index) => (isFixed[index] ? floor : 0));
  const bySplit: UpdateOrder = order === "hold" ? "spread" : order;
  const rest = demanded - sumOf(fixed);
  // Nobody else has anything to give: what is held goes down when it is back.
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

/** No member goes up when the fleet goes down. */
function lowered(sizes: readonly number[], before: readonly number[], updated: number, order: UpdateOrder): number[] {
  const counts = splitUpdated(sizes, updated, order).map((count, index) => Math.min(count, before[index] ?? 0));
  const room = before.map((count, index) => count - (counts[index] ?? 0));
  const more = splitUpdated(room, Math.min(sumOf(room), updated - sumOf(counts)), order);
  return counts.map((count, index) => count + (more[index] ?? 0));
}

/** Members go down at once and up by what is free. */
function grant(members: readonly RolloutMember[], wanted: readonly number[], demanded: number): number[] {
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

/**
 * What it was asked for, what it was asked for before and has not answered to, or what it reports, whichever is most.
 */
function mayRun(was: MemberStage | undefined, seen: number, isAcknowledged: boolean): number {
  return Math.max(was?.updated ?? 0, isAcknowledged ? 0 : (was?.peak ?? 0), seen);
}

/** It has all its pods, and they are of the copy that it has. */
function isSettled({ isAcknowledged, pods, size }: RolloutMember): boolean {
  return isAcknowledged && pods >= size;
}

function goesBackward(member: RolloutMember, updated: number): boolean {
  const { was, size, seen, isAcknowledged, isThrough, isHeld, isPinned, isJoining, canGoBack } = member;
  if (isJoining) return true;
  if (!canGoBack || isPinned) return false;
  if (isHeld && updated === (was?.updated ?? 0)) return was?.isBackward ?? false;
  const isBack = was?.isBackward === true;
  if (updated >= size && (!isBack || isSettled(member))) return false;
  const has = isBack && isAcknowledged ? seen : mayRun(was, seen, isAcknowledged);
  if (isBack || isThrough) return updated <= has;
  // A member that shrinks deletes the release's pods where its partition keeps more back.
  return has - updated > Math.max(0, (was?.replicas ?? size) - size);
}
