/** How many pods of a budget are available, and how many more may become unavailable. Pure. */
import type { PodUnavailableBudgetStatus } from "@flotilla/apimachinery/facts/policy-kruise-v1alpha1.ts";
import { TerminalError } from "@flotilla/base";
import { isActive, timeMs } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { strictShare } from "../int-or-percent.ts";
import { isAvailable } from "./budget-pod-state.ts";
import type { ReadonlyBudget } from "./budget-pod-state.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

/** A granted pod counts as deleted for this long; if it still exists afterwards, it counts again. */
const DELETION_TIMEOUT_MS = 20_000;
/** A pod with an allowed update counts as unavailable until the effect of the update is visible. */
const UPDATE_DELAY_MS = 10_000;

export interface BudgetInput {
  budget: ReadonlyBudget;
  /** The active pods of the budget. */
  pods: readonly ReadonlyPod[];
  /** Their desired number. */
  expected: number;
  gates: FeatureGates;
  nowMs: number;
}

export interface BudgetPlan {
  status: PodUnavailableBudgetStatus;
  /** Pods whose deletion was granted and that still exist. */
  notDeleted: readonly ReadonlyPod[];
  /** Time until a grant expires. */
  againInMs?: number;
}

/** Throws `TerminalError` if the budget's amount is invalid. */
export function planBudgetStatus(input: BudgetInput): BudgetPlan {
  const { budget, pods, expected, gates, nowMs } = input;
  const { disruptedPods = {}, unavailablePods = {} } = budget.status ?? {};
  const disrupted: Record<string, string> = {};
  const unavailable: Record<string, string> = {};
  const notDeleted: ReadonlyPod[] = [];
  const desiredAvailable = desiredPods(budget, expected);
  let currentAvailable = 0;
  let againAtMs: number | undefined;
  const holds = (granted: string | undefined, forMs: number): boolean => {
    const untilMs = timeMs(granted) + forMs;
    if (granted === undefined || untilMs < nowMs) return false;
    againAtMs = Math.min(againAtMs ?? untilMs, untilMs);
    return true;
  };
  for (const pod of pods.filter(isActive)) {
    const { name } = pod.metadata;
    const letGo = Object.hasOwn(disruptedPods, name) ? disruptedPods[name] : undefined;
    const updated = Object.hasOwn(unavailablePods, name) ? unavailablePods[name] : undefined;
    const isLeaving = holds(letGo, DELETION_TIMEOUT_MS);
    const isUpdating = holds(updated, UPDATE_DELAY_MS);
    if (isLeaving && letGo !== undefined) disrupted[name] = letGo;
    else if (letGo !== undefined) notDeleted.push(pod);
    if (isUpdating && updated !== undefined) unavailable[name] = updated;
    if (!isLeaving && !isUpdating && isAvailable(pod, gates)) currentAvailable++;
  }
  return {
    status: {
      observedGeneration: budget.metadata.generation ?? 0,
      disruptedPods: Object.keys(disrupted).length > 0 ? disrupted : undefined,
      unavailablePods: Object.keys(unavailable).length > 0 ? unavailable : undefined,
      unavailableAllowed: Math.max(0, currentAvailable - desiredAvailable),
      currentAvailable,
      desiredAvailable,
      totalReplicas: expected,
    },
    notDeleted,
    // One millisecond more: at the exact time the grant is still valid.
    againInMs: againAtMs !== undefined ? againAtMs - nowMs + 1 : undefined,
  };
}

function desiredPods({ metadata, spec }: ReadonlyBudget, expected: number): number {
  const { maxUnavailable, minAvailable } = spec ?? {};
  const amount = maxUnavailable ?? minAvailable;
  if (amount === undefined) return 0;
  const share = strictShare(amount, expected, "up");
  if (share === undefined)
    throw new TerminalError(
      `counting the pods of PodUnavailableBudget ${metadata.namespace}/${metadata.name}: ${JSON.stringify(amount)} is neither a number nor a percentage`,
    );
  return maxUnavailable === undefined ? share : Math.max(0, expected - share);
}
