/** Strategies and what users do with releases, drawn by a seed. */
import type { Draw } from "../draw.ts";

export const RELEASED_KINDS = ["Deployment", "CloneSet"] as const;
export type ReleasedKind = (typeof RELEASED_KINDS)[number];

export const isReleasedKind = (kind: string): kind is ReleasedKind =>
  (RELEASED_KINDS as readonly string[]).includes(kind);

export interface Wave {
  name: string;
  /** The percentage of all pods that are updated when it is complete; unset: all pods of its members. */
  percent?: number;
  /** Unset: all members. */
  members?: readonly string[];
  needsApproval?: boolean;
  soakS?: number;
}

export interface Strategy {
  waves: readonly Wave[];
  maxUnavailable: number;
  onFailure: "Pause" | "Rollback";
  onUnreachable: "Fail" | "Wait" | "Skip";
  deadlineS: number;
}

const STEPS = ["approve", "approve", "approve", "promote", "pause", "resume", "abort", "undo", "retry"] as const;
/** What a user does with the newest release of a template, by `flotilla rollout`. */
export type Steering = (typeof STEPS)[number];

export type ReleaseAction =
  | { do: "strategy"; kind: ReleasedKind; strategy: Strategy }
  | { do: "release"; kind: ReleasedKind; image: string }
  | { do: "steer"; kind: ReleasedKind; how: Steering };

/** Pods of such an image never start. */
export const isBrokenImage = (image: string): boolean => image.startsWith("app:broken");

export function drawStrategy(draw: Draw, kind: ReleasedKind, names: readonly string[]): ReleaseAction {
  const byMembers = draw.chance(0.5);
  const count = draw.integer(2, 3);
  const waves = Array.from({ length: count }, (_, index): Wave => {
    const wave: Wave = { name: `wave${index + 1}` };
    if (index > 0 && draw.chance(0.4)) wave.needsApproval = true;
    if (draw.chance(0.3)) wave.soakS = draw.one([10, 40]);
    if (index === count - 1) return wave;
    if (byMembers) wave.members = names.slice(0, index + 1);
    else wave.percent = draw.one([10, 30, 50]) + index * 20;
    return wave;
  });
  return {
    do: "strategy",
    kind,
    strategy: {
      waves,
      maxUnavailable: draw.integer(1, 3),
      onFailure: draw.one(["Pause", "Rollback"]),
      onUnreachable: draw.one(["Fail", "Wait", "Skip"]),
      deadlineS: draw.one([30, 120]),
    },
  };
}

export function drawReleaseAction(draw: Draw, kind: ReleasedKind, at: number): ReleaseAction {
  if (draw.chance(0.4))
    return { do: "release", kind, image: draw.chance(0.3) ? `app:broken${at + 2}` : `app:${at + 2}` };
  return { do: "steer", kind, how: draw.one(STEPS) };
}
