/**
 * The scale step: which pods to create, to delete or to prepare for deletion now, if any.
 *
 * The first match wins: a deletion that is no longer needed is reverted; missing pods are created before any deletion;
 * specified deletions come before scale-down. Reads: the numbers of `diff.ts`. Writes nothing.
 */
import { defined } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { enterState, isHooked, lifecycleState, marksPodsNotReady } from "../lifecycle/lifecycle.ts";
import type { PodStep } from "../in-place/write-pod.ts";
import { computeDiff } from "./diff.ts";
import type { DiffInput } from "./diff.ts";
import { hasRevision } from "./cloneset-names.ts";
import { isPodAvailable, isSpecifiedDelete } from "./cloneset-pod-state.ts";
import type { ReadonlyCloneSet } from "./cloneset-pod-state.ts";
import { chooseVictims } from "./cloneset-victims.ts";
import type { NodeLookup } from "./cloneset-victims.ts";

export interface ScaleInput extends DiffInput {
  nodeOf: NodeLookup;
}

export interface ScalePlan {
  /** Pods to create of each revision. */
  createCurrent: number;
  createUpdate: number;
  /** Deleted together with their volume claims. */
  remove: readonly ReadonlyPod[];
  /** Pods that enter or leave the state PreparingDelete. */
  prepare: readonly PodStep[];
  /** Set if `scaleStrategy.maxUnavailable` blocks the creation of missing pods: the number that it allows. */
  limit?: number;
}

const NOTHING: ScalePlan = { createCurrent: 0, createUpdate: 0, remove: [], prepare: [] };

/**
 * Nothing was done that the update step must wait for. A pod that only became unready has not changed its lifecycle
 * state.
 */
export const changesNothing = ({ createCurrent, createUpdate, remove, prepare }: ScalePlan): boolean =>
  createCurrent + createUpdate === 0 && remove.length === 0 && !prepare.some(changesState);
export const changesState = ({ pod, after }: PodStep): boolean => lifecycleState(pod) !== lifecycleState(after);

export function planScale(input: ScaleInput): ScalePlan {
  const { cloneSet, pods, updateRevision, gates, nowMs } = input;
  const regret = planRevertedDeletions(input);
  if (regret.length > 0) return { ...NOTHING, prepare: regret };

  // A pod that prepares for its update can count as updated, so that a new pod does not take its place among the new
  // ones.
  const isUpdated = (pod: ReadonlyPod): boolean =>
    hasRevision(pod, updateRevision) ||
    (gates.isOn("PreparingUpdateAsUpdate") && lifecycleState(pod) === "PreparingUpdate");
  const diff = computeDiff(input, isUpdated);
  if (diff.scaleUpNum > 0) {
    const createCurrent = Math.min(diff.scaleUpLimit, diff.scaleUpNumOldRevision);
    return {
      ...NOTHING,
      createCurrent,
      createUpdate: diff.scaleUpLimit - createCurrent,
      ...defined({ limit: diff.scaleUpNum > diff.scaleUpLimit ? diff.scaleUpLimit : undefined }),
    };
  }

  const preparing = pods.filter((pod) => lifecycleState(pod) === "PreparingDelete");
  const again = planDeletion(input, preparing);
  if (!changesNothing(again)) return again;

  const named = pods.filter((pod) => isSpecifiedDelete(cloneSet, pod) && lifecycleState(pod) !== "PreparingDelete");
  const specified = merge(again, planDeletion(input, withinBudget(named, diff.deleteReadyLimit, nowMs)));
  if (!changesNothing(specified)) return specified;

  if (diff.scaleDownNum === 0 || named.length + preparing.length > 0) return specified;
  const victims = chooseVictims({
    ...input,
    isUpdated,
    total: diff.scaleDownNum,
    fromOld: diff.scaleDownNumOldRevision,
  });
  return planDeletion(input, withinBudget(victims, diff.deleteReadyLimit, nowMs));
}

const merge = (a: ScalePlan, b: ScalePlan): ScalePlan => ({ ...b, prepare: [...a.prepare, ...b.prepare] });

/**
 * Pods in PreparingDelete return to Normal when they are needed again, unless a hook makes pods unready: those may have
 * stopped working.
 */
function planRevertedDeletions({ cloneSet, pods, nowMs }: ScaleInput): PodStep[] {
  if (marksPodsNotReady(cloneSet.spec.lifecycle)) return [];
  const isPreparing = (pod: ReadonlyPod): boolean => lifecycleState(pod) === "PreparingDelete";
  const leaving = pods.filter((pod) => isPreparing(pod) || isSpecifiedDelete(cloneSet, pod)).length;
  const missing = (cloneSet.spec.replicas ?? 1) - pods.length + leaving;
  if (missing <= 0) return [];
  const wanted = pods.filter((pod) => isPreparing(pod) && !isSpecifiedDelete(cloneSet, pod)).slice(0, missing);
  return wanted.map((pod) => ({ pod, after: enterState(pod, "PreparingNormal", false, nowMs) }));
}

/** Unready pods are deleted without limit; ready ones within the budget. */
function withinBudget(candidates: readonly ReadonlyPod[], readyLimit: number, nowMs: number): ReadonlyPod[] {
  let ready = 0;
  return candidates.filter((pod) => !isPodAvailable(pod, 0, nowMs) || ready++ < readyLimit);
}

/**
 * A pod with a handler of the preDelete hook is not deleted: it stays in PreparingDelete until the handler is removed.
 */
function planDeletion({ cloneSet, nowMs }: ScaleInput, pods: readonly ReadonlyPod[]): ScalePlan {
  const hook = cloneSet.spec.lifecycle?.preDelete;
  const [held, free] = [pods.filter((pod) => isHooked(hook, pod)), pods.filter((pod) => !isHooked(hook, pod))];
  const steps = held.map((pod) => ({
    pod,
    after: enterState(pod, "PreparingDelete", hook?.markPodNotReady ?? false, nowMs),
  }));
  return { ...NOTHING, remove: free, prepare: steps.filter(({ pod, after }) => after !== pod) };
}

/**
 * The spec without names of deleted pods in `podsToDelete`, because a later pod of that name would be deleted too;
 * undefined if none of them is deleted.
 */
export function withoutFinished(
  { spec }: ReadonlyCloneSet,
  active: readonly ReadonlyPod[],
): ReadonlyCloneSet["spec"] | undefined {
  const { podsToDelete: named = [], ...scaleStrategy } = spec.scaleStrategy ?? {};
  if (named.length === 0) return undefined;
  const left = named.filter((name) => active.some(({ metadata }) => metadata.name === name));
  if (left.length === named.length) return undefined;
  return { ...spec, scaleStrategy: left.length > 0 ? { ...scaleStrategy, podsToDelete: left } : scaleStrategy };
}
