/**
 * The disruptions that a PodDisruptionBudget currently allows. Pure: computes the status from the budget, its pods and
 * their expected number.
 *
 * The API server charges evictions to the status before the pod is deleted; a charged pod counts as deleted at once,
 * and if it still exists after two minutes it counts again.
 */
import type { PodDisruptionBudget } from "./poddisruptionbudget-kind.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { scaledValue, withCondition } from "@flotilla/apimachinery";
import { isReady, timeMs } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";

export type ReadonlyBudget = DeepReadonly<PodDisruptionBudget>;
export type BudgetStatus = NonNullable<ReadonlyBudget["status"]>;

const DELETION_TIMEOUT_MS = 2 * 60_000;

/** Whether the expected number of pods is needed, which their controllers define. */
export function needsScale({ spec }: ReadonlyBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === "string";
}

export interface BudgetPlan {
  status: BudgetStatus;
  /** Pods that were granted an eviction and were not deleted. */
  notDeleted: readonly ReadonlyPod[];
  /** Time until the next grant expires. */
  againInMs?: number;
}

/** `expected` is the expected number of pods; by default the number of existing ones. */
export function planBudget(
  budget: ReadonlyBudget,
  pods: readonly ReadonlyPod[],
  expected: number,
  nowMs: number,
): BudgetPlan {
  const { metadata, spec, status } = budget;
  const desiredHealthy =
    spec?.maxUnavailable !== undefined
      ? Math.max(0, expected - scaledValue(spec.maxUnavailable, expected, { roundUp: true }))
      : scaledValue(spec?.minAvailable ?? 0, expected, { roundUp: true });
  const disruptedPods: Record<string, string> = {};
  const notDeleted: ReadonlyPod[] = [];
  let againAtMs: number | undefined;
  let currentHealthy = 0;
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp) continue;
    const { name } = pod.metadata;
    const granted =
      status?.disruptedPods && Object.hasOwn(status.disruptedPods, name) ? status.disruptedPods[name] : undefined;
    const untilMs = timeMs(granted) + DELETION_TIMEOUT_MS;
    const isLeaving = granted !== undefined && untilMs >= nowMs;
    if (granted !== undefined && isLeaving) {
      disruptedPods[name] = granted;
      againAtMs = Math.min(againAtMs ?? untilMs, untilMs);
    } else if (granted !== undefined) notDeleted.push(pod);
    if (!isLeaving && isReady(pod)) currentHealthy++;
  }
  const disruptionsAllowed = expected > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const observedGeneration = metadata.generation ?? 0;
  const verdict =
    disruptionsAllowed > 0
      ? ({ status: "True", reason: "SufficientPods" } as const)
      : ({ status: "False", reason: "InsufficientPods" } as const);
  const conditions = withCondition(
    status?.conditions,
    { type: "DisruptionAllowed", ...verdict, message: "", observedGeneration },
    formatTime(nowMs),
  );
  return {
    status: {
      observedGeneration,
      disruptedPods: Object.keys(disruptedPods).length > 0 ? disruptedPods : undefined,
      disruptionsAllowed,
      currentHealthy,
      desiredHealthy,
      expectedPods: expected,
      conditions,
    },
    notDeleted,
    // One millisecond more: at the exact time the grant is still valid.
    againInMs: againAtMs !== undefined ? againAtMs - nowMs + 1 : undefined,
  };
}

/** If the pods cannot be counted, no disruption is allowed. */
export function failedStatus({ status }: ReadonlyBudget, why: string, nowMs: number): BudgetStatus {
  const { observedGeneration } = status ?? {};
  const conditions = withCondition(
    status?.conditions,
    { type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message: why, observedGeneration },
    formatTime(nowMs),
  );
  return { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status, disruptionsAllowed: 0, conditions };
}
