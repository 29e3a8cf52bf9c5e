/**
 * One scale pass: which pods to create and which to delete now, or nothing.
 *
 * First match wins: missing pods are created before anything goes; pods named for deletion go before the set shrinks.
 * Reads: the numbers of `diff.ts`. Writes nothing.
 */
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { computeDiff } from "./diff.ts";
import { isPodAvailable, isSpecifiedDelete, lifecycleState } from "./pod-state.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";
import { chooseVictims } from "./victims.ts";
import type { NodeLookup } from "./victims.ts";

export interface PassInput {
  cloneSet: ReadonlyCloneSet;
  /** Active pods alone. */
  pods: readonly ReadonlyPod[];
  updateRevision: string;
  nodeOf: NodeLookup;
  nowMs: number;
}

export interface ScalePlan {
  /** How many pods to create of each revision. */
  createCurrent: number;
  createUpdate: number;
  remove: readonly ReadonlyPod[];
  /** Pods are missing that `scaleStrategy.maxUnavailable` does not let us create yet. */
  limited: boolean;
}

const NOTHING: ScalePlan = { createCurrent: 0, createUpdate: 0, remove: [], limited: false };

export const changesNothing = ({ createCurrent, createUpdate, remove }: ScalePlan): boolean => createCurrent + createUpdate === 0 && remove.length === 0;

export function planScale(input: PassInput): ScalePlan {
  const { cloneSet, pods, updateRevision, nodeOf, nowMs } = input;
  const diff = computeDiff(cloneSet, pods, updateRevision, nowMs);
  if (diff.scaleUpNum > 0) {
    const createCurrent = Math.min(diff.scaleUpLimit, diff.scaleUpNumOldRevision);
    const limited = diff.scaleUpNum > diff.scaleUpLimit;
    const plan = { ...NOTHING, createCurrent, createUpdate: diff.scaleUpLimit - createCurrent, limited };
    if (diff.scaleUpLimit > 0) return plan;
    const rest = planRemoval();
    return { ...rest, limited };
  }
  return planRemoval();

  function planRemoval(): ScalePlan {
    const planned = pods.filter((pod) => isSpecifiedDelete(cloneSet, pod) && lifecycleState(pod) !== "PreparingDelete");
    const preparing = pods.filter((pod) => lifecycleState(pod) === "PreparingDelete");
    // Nothing holds them without hooks, so they go at once and need no budget: they already count as unavailable.
    if (preparing.length > 0) return { ...NOTHING, remove: preparing };

    const named = withinBudget(planned, diff.deleteReadyLimit);
    if (named.length > 0) return { ...NOTHING, remove: named };
    if (diff.scaleDownNum === 0 || planned.length > 0) return NOTHING;

    const victims = chooseVictims({ cloneSet, pods, updateRevision, total: diff.scaleDownNum, fromOld: diff.scaleDownNumOldRevision, nodeOf, nowMs });
    return { ...NOTHING, remove: withinBudget(victims, diff.deleteReadyLimit) };
  }

  function withinBudget(candidates: readonly ReadonlyPod[], readyLimit: number): ReadonlyPod[] {
    let ready = 0;
    return candidates.filter((pod) => !isPodAvailable(pod, 0, nowMs) || ready++ < readyLimit);
  }
}
