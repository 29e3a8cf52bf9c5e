/**
 * In which order pods are updated, and how many of them now.
 *
 * The least useful pods go first, so that an update costs as little availability as it can; then the user's priorities and
 * scattering rearrange them; pods that already prepare for the update come before all others. Reads: pods and the numbers of `diff.ts`. Writes nothing.
 */
import { activePodsOrder } from "../../kubernetes/pod.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import type { Diff } from "./diff.ts";
import { hasRevision, isPodAvailable, lifecycleState } from "./pod-state.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";
import { byPriority } from "./update-priority.ts";
import { scatter } from "./update-scatter.ts";

/** Candidates in the order in which they should be updated. `pods` are all of the set. */
export function orderForUpdate({ spec }: ReadonlyCloneSet, candidates: readonly ReadonlyPod[], pods: readonly ReadonlyPod[]): ReadonlyPod[] {
  const { priorityStrategy, scatterStrategy } = spec.updateStrategy?.rollingUpdate ?? {};
  const preparing = (pod: ReadonlyPod): number => Number(lifecycleState(pod) !== "PreparingUpdate");
  let ordered = candidates.toSorted(activePodsOrder);
  if (priorityStrategy) ordered = byPriority(ordered, priorityStrategy);
  if (scatterStrategy?.length) ordered = scatter(ordered, pods, scatterStrategy);
  return ordered.toSorted((a, b) => preparing(a) - preparing(b));
}

/** The pods to update now: at most `updateNum`, and no more unavailable ones than the budget allows. */
export function choosePodsToUpdate(cloneSet: ReadonlyCloneSet, pods: readonly ReadonlyPod[], updateRevision: string, diff: Diff, nowMs: number): ReadonlyPod[] {
  const available = (pod: ReadonlyPod): boolean => isPodAvailable(pod, cloneSet.spec.minReadySeconds ?? 0, nowMs);
  const candidates = pods.filter((pod) => !hasRevision(pod, updateRevision) && lifecycleState(pod) !== "PreparingDelete");
  let unavailable = 0;
  let updatedUnavailable = 0;
  for (const pod of pods) {
    if (available(pod)) continue;
    unavailable++;
    if (hasRevision(pod, updateRevision)) updatedUnavailable++;
  }

  const chosen: ReadonlyPod[] = [];
  for (const pod of orderForUpdate(cloneSet, candidates, pods).slice(0, diff.updateNum)) {
    // Every pod that is being updated counts, even one that was unavailable before: it may not come back.
    if (updatedUnavailable + chosen.length >= diff.updateMaxUnavailable) break;
    if (available(pod)) {
      if (unavailable >= diff.updateMaxUnavailable) break;
      unavailable++;
    }
    chosen.push(pod);
  }
  return chosen;
}
