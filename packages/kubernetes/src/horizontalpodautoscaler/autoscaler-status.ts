/** The status of an autoscaler. Pure. */
import { formatTime } from "@flotilla/base";
import type { ReadonlyAutoscaler } from "./scaling-limits.ts";

export type Status = NonNullable<ReadonlyAutoscaler["status"]>;
type Condition = NonNullable<Status["conditions"]>[number];

export interface FoundCondition {
  type: string;
  isTrue: boolean;
  reason: string;
  message: string;
}

export interface AutoscalerSizes {
  currentReplicas: number;
  desiredReplicas: number;
  metrics: Status["currentMetrics"] | undefined;
}

/**
 * `found` are the conditions in the order in which they were found: a later one replaces an earlier one of its type, which
 * is then no change of the condition.
 */
export function planAutoscalerStatus(
  { status }: ReadonlyAutoscaler,
  { currentReplicas, desiredReplicas, metrics }: AutoscalerSizes,
  found: readonly FoundCondition[],
  nowMs: number,
): Status {
  return {
    lastScaleTime: status?.lastScaleTime || undefined,
    currentReplicas: currentReplicas > 0 ? currentReplicas : undefined,
    desiredReplicas,
    currentMetrics: metrics && metrics.length > 0 ? metrics : undefined,
    conditions: [
      ...[...new Map(found.map((each) => [each.type, each])).values()].reduce<readonly Condition[]>(
        (conditions, next) => withCondition(conditions, next, nowMs),
        status?.conditions ?? [],
      ),
    ],
  };
}

/** Reason and message may change every time; the time is that of the last status change. */
function withCondition(
  conditions: readonly Condition[],
  { type, isTrue, reason, message }: FoundCondition,
  nowMs: number,
): readonly Condition[] {
  const status = isTrue ? "True" : "False";
  const before = conditions.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(nowMs);
  const next: Condition = { type, status, lastTransitionTime: lastTransitionTime || undefined, reason, message };
  return before ? conditions.map((condition) => (condition === before ? next : condition)) : [...conditions, next];
}
