/**
 * The order in which pods are updated, and how many of them now.
 *
 * The least useful pods come first, so that an update costs as little availability as possible; then the user's
 * priority and scatter strategies reorder them; pods that already prepare for the update come before all others. Reads:
 * pods and the numbers of `diff.ts`. Writes nothing.
 */
import { activePodsOrder } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isInGracePeriod } from "../in-place/state.ts";
import { lifecycleState } from "../lifecycle/lifecycle.ts";
import type { Diff } from "./diff.ts";
import { hasRevision } from "./cloneset-names.ts";
import { isPodAvailable } from "./cloneset-pod-state.ts";
import type { ReadonlyCloneSet } from "./cloneset-pod-state.ts";
import { byPriority } from "./update-priority.ts";
import { scatter } from "./update-scatter.ts";

/** Candidates in update order. `pods` are all pods of the set. */
export function orderForUpdate(
  { spec }: ReadonlyCloneSet,
  candidates: readonly ReadonlyPod[],
  pods: readonly ReadonlyPod[],
): ReadonlyPod[] {
  const { priorityStrategy, scatterStrategy } = spec.updateStrategy?.rollingUpdate ?? {};
  const preparing = (pod: ReadonlyPod): number => Number(lifecycleState(pod) !== "PreparingUpdate");
  let ordered = candidates.toSorted(activePodsOrder);
  if (priorityStrategy) ordered = byPriority(ordered, priorityStrategy);
  if (scatterStrategy?.length) ordered = scatter(ordered, pods, scatterStrategy);
  return ordered.toSorted((a, b) => preparing(a) - preparing(b));
}

export interface Choice {
  cloneSet: ReadonlyCloneSet;
  pods: readonly ReadonlyPod[];
  updateRevision: string;
  /** The target of the pods: the update revision, or the current one in a rollback. */
  targetRevision: string;
  diff: Diff;
  nowMs: number;
}

/** The pods to update now: at most the planned number, and no more unavailable ones than the budget allows. */
export function choosePodsToUpdate(choice: Choice): ReadonlyPod[] {
  const { cloneSet, pods, updateRevision, targetRevision, diff, nowMs } = choice;
  const available = (pod: ReadonlyPod): boolean => isPodAvailable(pod, cloneSet.spec.minReadySeconds ?? 0, nowMs);
  const returns = diff.updateNum < 0;
  const candidates = pods.filter((pod) => hasRevision(pod, updateRevision) === returns && isFree(pod));
  let unavailable = 0;
  let targetUnavailable = 0;
  for (const pod of pods) {
    if (available(pod)) continue;
    unavailable++;
    if (hasRevision(pod, targetRevision)) targetUnavailable++;
  }

  const chosen: ReadonlyPod[] = [];
  for (const pod of orderForUpdate(cloneSet, candidates, pods).slice(0, Math.abs(diff.updateNum))) {
    // Every updating pod counts, even one that was unavailable before: it may stay unavailable.
    if (targetUnavailable + chosen.length >= diff.updateMaxUnavailable) break;
    if (available(pod)) {
      if (unavailable >= diff.updateMaxUnavailable) break;
      unavailable++;
    }
    chosen.push(pod);
  }
  return chosen;
}

/**
 * Skips pods that are about to be deleted or wait for a grace period; a pod that was updated before may always
 * continue.
 */
function isFree(pod: ReadonlyPod): boolean {
  const state = lifecycleState(pod);
  return state === "Updated" || (state !== "PreparingDelete" && !isInGracePeriod(pod));
}
