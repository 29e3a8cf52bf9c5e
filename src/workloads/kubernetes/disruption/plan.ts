/**
 * What a PodDisruptionBudget allows right now. Pure: from the budget, its pods and how many there should be to its
 * status.
 *
 * Evictions are charged to the status by the API server before the pod goes; a pod that was charged counts as gone at
 * once, and when it is still there after two minutes it counts again.
 */
import type { PodDisruptionBudget } from "../../../api/index.ts";
import { formatTime } from "../../../base/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { scaledValue, withCondition } from "../../../machinery/index.ts";
import { isReady, timeMs } from "../pod.ts";
import type { ReadonlyPod } from "../pod.ts";

export type ReadonlyBudget = DeepReadonly<PodDisruptionBudget>;
export type BudgetStatus = NonNullable<ReadonlyBudget["status"]>;

const DELETION_TIMEOUT_MS = 2 * 60_000;

/** Whether the number of pods that should be there matters, which their controllers know. */
export function needsScale({ spec }: ReadonlyBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === "string";
}

export interface BudgetPlan {
  status: BudgetStatus;
  /** Pods that were granted an eviction and did not go. */
  notDeleted: readonly ReadonlyPod[];
  /** When the next grant runs out. */
  againInMs?: number;
}

/** `expected` is how many pods there should be; by default those that are there. */
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
      ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
      disruptionsAllowed,
      currentHealthy,
      desiredHealthy,
      expectedPods: expected,
      conditions,
    },
    notDeleted,
    // One millisecond more: at the very moment the grant still holds.
    ...(againAtMs !== undefined && { againInMs: againAtMs - nowMs + 1 }),
  };
}

/** When the pods cannot be counted nobody may be disrupted. */
export function failedStatus({ status }: ReadonlyBudget, why: string, nowMs: number): BudgetStatus {
  const { observedGeneration } = status ?? {};
  const conditions = withCondition(
    status?.conditions,
    { type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message: why, observedGeneration },
    formatTime(nowMs),
  );
  return { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status, disruptionsAllowed: 0, conditions };
}
