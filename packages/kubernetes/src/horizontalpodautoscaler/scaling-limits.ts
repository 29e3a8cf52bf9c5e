/**
 * Limits of an autoscaler: the highest or lowest recent recommendation counts, rates limit every step, and minReplicas
 * and maxReplicas always apply. Pure, over the history of `scaling-history.ts`.
 */
import type { HorizontalPodAutoscaler } from "./horizontalpodautoscaler-kind.ts";
import type { DeepReadonly } from "@flotilla/base";

export type ReadonlyAutoscaler = DeepReadonly<HorizontalPodAutoscaler>;
type Behavior = NonNullable<ReadonlyAutoscaler["spec"]["behavior"]>;
type Rules = NonNullable<Behavior["scaleUp"]>;

/** The default stabilization window for scaling down. */
export const STABILIZATION_MS = 5 * 60_000;
/** Without its own rules an autoscaler may double the pods at once, or scale to four. */
const SCALE_UP_FACTOR = 2;
const SCALE_UP_MINIMUM = 4;

export interface Sample {
  atMs: number;
  replicas: number;
}

export interface History {
  recommendations: readonly Sample[];
  /** By how many pods the target was scaled, and when. */
  ups: readonly Sample[];
  downs: readonly Sample[];
}

export interface Verdict {
  replicas: number;
  /** What recent recommendations allow, before rates limit it. */
  stabilized: number;
  /** For the condition AbleToScale. */
  able: { reason: string; message: string };
  /** For the condition ScalingLimited. */
  limited: { isLimited: boolean; reason: string; message: string };
}

const READY = { reason: "ReadyForNewScale", message: "recommended size matches current size" };
const DOWN_STABILIZED = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};
const UP_STABILIZED = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};
const WITHIN = { reason: "DesiredWithinRange", message: "the desired count is within the acceptable range" };
const TOO_FEW = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count",
};
const TOO_MANY = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
};
const UP_LIMIT = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
};
const DOWN_LIMIT = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate",
};

export function limit(
  { spec }: ReadonlyAutoscaler,
  current: number,
  desired: number,
  history: History,
  nowMs: number,
): Verdict {
  const stabilized = stabilize(spec.behavior, current, desired, history, nowMs);
  const able = stabilized === desired ? READY : spec.behavior && desired >= current ? UP_STABILIZED : DOWN_STABILIZED;
  const size = { current, desired: stabilized, min: spec.minReplicas ?? 1, max: spec.maxReplicas };
  const { replicas, why } = spec.behavior ? byRules(spec.behavior, size, history, nowMs) : byFactor(size);
  return { replicas, stabilized, able, limited: { isLimited: replicas !== stabilized, ...why } };
}

function stabilize(
  behavior: Behavior | undefined,
  current: number,
  desired: number,
  { recommendations }: History,
  nowMs: number,
): number {
  const within = (windowMs: number): number[] =>
    recommendations.filter(({ atMs }) => atMs > nowMs - windowMs).map(({ replicas }) => replicas);
  if (!behavior) return Math.max(desired, ...within(STABILIZATION_MS));
  const lowest = Math.min(desired, ...within((behavior.scaleUp?.stabilizationWindowSeconds ?? 0) * 1000));
  const highest = Math.max(desired, ...within(downWindowMs(behavior)));
  return Math.min(Math.max(current, lowest), highest);
}

export const downWindowMs = (behavior: Behavior | undefined): number =>
  behavior?.scaleDown?.stabilizationWindowSeconds === undefined
    ? STABILIZATION_MS
    : behavior.scaleDown.stabilizationWindowSeconds * 1000;

interface Limited {
  replicas: number;
  why: { reason: string; message: string };
}

interface Size {
  current: number;
  desired: number;
  min: number;
  max: number;
}

function byFactor({ current, desired, min, max }: Size): Limited {
  const rate = Math.max(SCALE_UP_FACTOR * current, SCALE_UP_MINIMUM);
  if (desired < min) return { replicas: min, why: TOO_FEW };
  if (desired > Math.min(max, rate))
    return max > rate ? { replicas: rate, why: UP_LIMIT } : { replicas: max, why: TOO_MANY };
  return { replicas: desired, why: WITHIN };
}

function byRules(behavior: Behavior, { current, desired, min, max }: Size, history: History, nowMs: number): Limited {
  if (desired > current) {
    // Scale events before a change of the policies do not force the size down.
    const rate = Math.max(current, rateOf(behavior.scaleUp ?? {}, current, history, nowMs, "up"));
    if (desired > Math.min(max, rate))
      return max > rate ? { replicas: rate, why: UP_LIMIT } : { replicas: max, why: TOO_MANY };
  } else if (desired < current) {
    const rate = Math.min(current, rateOf(behavior.scaleDown ?? {}, current, history, nowMs, "down"));
    if (desired < Math.max(min, rate))
      return min < rate ? { replicas: rate, why: DOWN_LIMIT } : { replicas: min, why: TOO_FEW };
  }
  return { replicas: desired, why: WITHIN };
}

/** The number of pods that the policies allow, counted from the size at the start of each policy's period. */
function rateOf(
  { selectPolicy = "Max", policies = [] }: Rules,
  current: number,
  { ups, downs }: History,
  nowMs: number,
  direction: "up" | "down",
): number {
  if (selectPolicy === "Disabled") return current;
  const changed = (samples: readonly Sample[], periodMs: number): number =>
    samples.filter(({ atMs }) => atMs > nowMs - periodMs).reduce((sum, { replicas }) => sum + replicas, 0);
  const allowed = policies.map(({ type, value, periodSeconds }) => {
    const periodMs = periodSeconds * 1000;
    const start = current - changed(ups, periodMs) + changed(downs, periodMs);
    if (direction === "up") return type === "Pods" ? start + value : Math.ceil(start * (1 + value / 100));
    return type === "Pods" ? start - value : Math.trunc(start * (1 - value / 100));
  });
  if (allowed.length === 0) return current;
  // The largest change is the highest number when scaling up and the lowest when scaling down.
  return (selectPolicy === "Min") === (direction === "up") ? Math.min(...allowed) : Math.max(...allowed);
}
