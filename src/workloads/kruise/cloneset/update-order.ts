/**
 * In which order pods are updated, and how many of them now.
 *
 * The least useful pods go first, so that an update costs as little availability as it can; then the user's priorities
 * and scattering rearrange them; pods that already prepare for the update come before all others. Reads: pods and the
 * numbers of `diff.ts`. Writes nothing.
 */
import { activePodsOrder } from "../../kubernetes/pod.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { isInGracePeriod } from "../in-place/state.ts";
import { lifecycleState } from "../lifecycle/lifecycle.ts";
import type { Diff } from "./diff.ts";
import { hasRevision } from "./names.ts";
import { isPodAvailable } from "./pod-state.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";
import { byPriority } from "./update-priority.ts";
import { scatter } from "./update-scatter.ts";

/** Candidates in the order in which they should be updated. `pods` are all of the set. */
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
  /** Where the pods go: the update revision, or the current one when an update is taken back. */
  targetRevision: string;
  diff: Diff;
  nowMs: number;
}

/**
 * The pods to update now: at most as many as the numbers ask for, and no more unavailable ones than the budget allows.
 */
export function choosePodsToUpdate({
  cloneSet,
  pods,
  updateRevision,
  targetRevision,
  diff,
  nowMs,
}: Choice): ReadonlyPod[] {
  const available = (pod: ReadonlyPod): boolean => isPodAvailable(pod, cloneSet.spec.minReadySeconds ?? 0, nowMs);
  const goesBack = diff.updateNum < 0;
  const candidates = pods.filter((pod) => hasRevision(pod, updateRevision) === goesBack && isFree(pod));
  let unavailable = 0;
  let targetUnavailable = 0;
  for (const pod of pods) {
    if (available(pod)) continue;
    unavailable++;
    if (hasRevision(pod, targetRevision)) targetUnavailable++;
  }

  const chosen: ReadonlyPod[] = [];
  for (const pod of orderForUpdate(cloneSet, candidates, pods).slice(0, Math.abs(diff.updateNum))) {
    // Every pod that is being updated counts, even one that was unavailable before: it may not come back.
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
 * A pod that is about to be deleted is left alone, and so is one that waits out a grace period; one that was updated
 * before may always go on.
 */
function isFree(pod: ReadonlyPod): boolean {
  const state = lifecycleState(pod);
  return state === "Updated" || (state !== "PreparingDelete" && !isInGracePeriod(pod));
}
