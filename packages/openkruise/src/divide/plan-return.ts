/**
 * Plans how a member that has pods of more than two templates rolls back pods of the release. Its other pods must not
 * change, and a backward copy (`member-stage.ts`) would also move them to its template. So the member moves in steps, each
 * of which waits for its report:
 *
 * 1. The earlier template with a partition that keeps every pod. No pod changes, and the member reports how many pods
 * have that template. The rest, without the pods of the release, are the others.
 * 2. The same template with a partition that keeps the others and the remaining pods of the release. A priority makes
 * OpenKruise choose pods of the release (`partitioned.ts`). The newest earlier template gets as many pods as it had
 * when the release began, then the next one; the oldest, which is that of the last complete release, gets what is left.
 * 3. The release's template again, with which the member reports the pods of the release exactly. A member that had
 * completed the release stays with the earlier template, because it replaces lost pods by pods of the release.
 */
import type { MemberStage, ReturnStep } from "./member-stage.ts";

/** An earlier template that pods can return to. */
export interface ReturnLayer {
  /** Its position among the kept templates. */
  readonly layer: number;
  /** The pods that had it when the release began. */
  readonly pods: number;
}

export interface MixedMember {
  readonly size: number;
  readonly was?: MemberStage;
  readonly seen: number;
  readonly pods: number;
  readonly isAcknowledged: boolean;
  readonly isThrough: boolean;
  readonly isHeld: boolean;
  /** Newest first. */
  readonly layers: readonly ReturnLayer[];
  /** Pods that have the template of its backward copy, as last reported. */
  readonly counted?: number;
}

export type ReturnPlan = Pick<MemberStage, "updated" | "isBackward" | "step">;

/** `updated` is the number of pods of the release that it should have. */
export function planReturn(member: MixedMember, updated: number): ReturnPlan {
  const { was } = member;
  const step = was?.step ? nextStep(member, was, was.step, updated) : firstStep(member, updated);
  return { updated, isBackward: step !== undefined, step };
}

const isSettled = ({ isAcknowledged, pods, size }: MixedMember): boolean => isAcknowledged && pods >= size;

/** Undefined while it is written forward. */
function firstStep(member: MixedMember, updated: number): ReturnStep | undefined {
  const { was, size, seen, pods, layers } = member;
  const [newest] = layers;
  const oldest = layers.at(-1);
  if (!newest || !oldest || updated >= size || member.isHeld || !member.isAcknowledged) return undefined;
  // Forward it would start the pods of a growing share with the release.
  if (member.isThrough && size > (was?.replicas ?? size) && seen <= updated && seen >= pods)
    return { layer: oldest.layer, keeps: seen, others: 0 };
  // A shrinking member deletes pods of the release itself.
  return isSettled(member) && pods <= size && seen > updated ? { layer: newest.layer, keeps: seen } : undefined;
}

/** Undefined when it is written forward again. */
function nextStep(member: MixedMember, was: MemberStage, step: ReturnStep, updated: number): ReturnStep | undefined {
  const { size, seen, pods, isThrough, layers, counted } = member;
  const isCounting = step.others === undefined;
  if (member.isHeld) return step;
  // The pods are counted again when it has settled. Only a growing member that starts pods of the release by itself
  // stays, so that it starts pods of the earlier template.
  if (was.replicas !== size && (!isThrough || isCounting || size < was.replicas)) return undefined;
  if (!isSettled(member) || seen > step.keeps) return step;
  if (updated > step.keeps) return undefined;
  const excess = step.keeps - updated;
  if (excess === 0) return isThrough && !isCounting ? step : undefined;

  const position = layers.findIndex(({ layer }) => layer === step.layer);
  const current = layers[position];
  if (!current || counted === undefined) return undefined;
  const isOldest = position === layers.length - 1;
  const missing = isOldest ? excess : Math.min(excess, Math.max(0, current.pods - counted));
  const next = layers[position + 1];
  if (missing === 0 && next) return { layer: next.layer, keeps: step.keeps };
  return {
    layer: step.layer,
    keeps: step.keeps - missing,
    others: step.others ?? Math.max(0, pods - counted - step.keeps),
  };
}
