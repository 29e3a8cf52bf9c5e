/**
 * The core of CloneSet: computes from the existing pods how many to create, delete and update.
 *
 * Everything else follows these numbers; only this file balances partition, surge and unavailability.
 * Reads: spec and active pods. Writes nothing.
 */
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { lifecycleState } from "../lifecycle/lifecycle.ts";
import { legacyShare, partitionOf } from "../int-or-percent.ts";
import type { IntOrPercent, Rounding } from "../int-or-percent.ts";
import { EXCLUDE_PREPARING_DELETE_LABEL } from "./cloneset-names.ts";
import { isPodAvailable, isSpecifiedDelete } from "./cloneset-pod-state.ts";
import type { ReadonlyCloneSet } from "./cloneset-pod-state.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

export interface Diff {
  /** Missing pods, and how many of them should have the current (old) revision. */
  scaleUpNum: number;
  scaleUpNumOldRevision: number;
  /** How many may be created now, by `scaleStrategy.maxUnavailable`. */
  scaleUpLimit: number;
  /** Excess pods, and how many of them should be of old revisions. */
  scaleDownNum: number;
  scaleDownNumOldRevision: number;
  /** How many ready pods may be deleted now. */
  deleteReadyLimit: number;
  /** Pods beyond `replicas` that speed up an update or a deletion. */
  useSurge: number;
  useSurgeOldRevision: number;
  /** Pods to move to the update revision; negative means back to the current one. */
  updateNum: number;
  updateMaxUnavailable: number;
}

/** CloneSet's default for `maxUnavailable`. */
const DEFAULT_MAX_UNAVAILABLE = "20%";

export interface Budgets {
  replicas: number;
  /** 0 if the partition is invalid. */
  partition: number;
  maxSurge: number;
  maxUnavailable: number;
  scaleMaxUnavailable: number;
}

/** An invalid value counts as 0. */
const budgetOf = (value: IntOrPercent | undefined, replicas: number, rounding: Rounding): number =>
  value === undefined ? 0 : (legacyShare(value, replicas, rounding) ?? 0);

export function budgetsOf({ spec }: ReadonlyCloneSet): Budgets {
  const replicas = spec.replicas ?? 1;
  const rollingUpdate = spec.updateStrategy?.rollingUpdate;
  const scaleLimit = spec.scaleStrategy?.maxUnavailable;
  const maxSurge = rollingUpdate?.paused ? 0 : budgetOf(rollingUpdate?.maxSurge, replicas, "up");
  // With a surge the budget rounds down, because the extra pods already keep the rollout moving.
  const rounding = rollingUpdate && maxSurge === 0 ? "up" : "down";
  return {
    replicas,
    partition: partitionOf(rollingUpdate?.partition, replicas) ?? 0,
    maxSurge,
    maxUnavailable: budgetOf(rollingUpdate?.maxUnavailable ?? DEFAULT_MAX_UNAVAILABLE, replicas, rounding),
    scaleMaxUnavailable: scaleLimit === undefined ? Number.MAX_SAFE_INTEGER : budgetOf(scaleLimit, replicas, "up"),
  };
}

interface Group {
  count: number;
  active: number;
  preDeleting: number;
  toDelete: number;
  unavailable: number;
}

const emptyGroup = (): Group => ({ count: 0, active: 0, preDeleting: 0, toDelete: 0, unavailable: 0 });

/** Every pod is visited once: a set of thousands is counted on every pod change. */
function countGroups(
  { cloneSet, pods, nowMs }: DiffInput,
  isUpdated: (pod: ReadonlyPod) => boolean,
): { updated: Group; old: Group } {
  const groups = { updated: emptyGroup(), old: emptyGroup() };
  const minReadySeconds = cloneSet.spec.minReadySeconds ?? 0;
  for (const pod of pods) {
    const group = isUpdated(pod) ? groups.updated : groups.old;
    group.count++;
    if (lifecycleState(pod) === "PreparingDelete") {
      group.preDeleting++;
      continue;
    }
    group.active++;
    if (isSpecifiedDelete(cloneSet, pod)) group.toDelete++;
    else if (!isPodAvailable(pod, minReadySeconds, nowMs)) group.unavailable++;
  }
  return groups;
}

/** The pods and settings to compute from. */
export interface DiffInput {
  cloneSet: ReadonlyCloneSet;
  /** Only active pods. */
  pods: readonly ReadonlyPod[];
  currentRevision: string;
  updateRevision: string;
  gates: FeatureGates;
  nowMs: number;
}

/** `isUpdated` selects the pods that count as new: the scale and the update step may differ in that. */
export function computeDiff(input: DiffInput, isUpdated: (pod: ReadonlyPod) => boolean): Diff {
  const { cloneSet, pods, currentRevision, updateRevision, gates } = input;
  const budgets = budgetsOf(cloneSet);
  const { replicas, partition, maxUnavailable } = budgets;
  const excludePreparingDelete =
    cloneSet.spec.scaleStrategy?.excludePreparingDelete ??
    cloneSet.metadata.labels?.[EXCLUDE_PREPARING_DELETE_LABEL] === "true";
  const { updated, old } = countGroups(input, isUpdated);
  const toDelete = updated.toDelete + old.toDelete;
  const totalUnavailable = updated.preDeleting + old.preDeleting + updated.unavailable + old.unavailable;

  let oldDiff = old.active - partition;
  let newDiff = updated.active - (replicas - partition);
  // Raising the partition does not roll pods back: only surplus old and missing new pods count.
  if (currentRevision === updateRevision || !gates.isOn("CloneSetPartitionRollback")) {
    oldDiff = Math.max(oldDiff, 0);
    newDiff = Math.min(newDiff, 0);
  }
  const { useSurge, useSurgeOldRevision } = surgeOf(budgets, {
    oldDiff,
    newDiff,
    toDelete,
    toDeleteNew: updated.toDelete,
    totalUnavailable,
  });

  const counted = (group: Group): number => group.count - (excludePreparingDelete ? group.preDeleting : 0);
  const currentOld = counted(old);
  const currentTotal = currentOld + counted(updated);
  const expectedTotal = replicas + useSurge;
  const expectedOld = partition + useSurgeOldRevision;

  const scaleUpNum = Math.max(expectedTotal - currentTotal, 0);
  const scaleDownNum = Math.max(currentTotal - toDelete - expectedTotal, 0);
  const updateNum = Math.abs(oldDiff) <= Math.abs(newDiff) ? oldDiff : -newDiff;
  return {
    scaleUpNum,
    scaleUpNumOldRevision: scaleUpNum > 0 ? Math.max(expectedOld - currentOld, 0) : 0,
    scaleUpLimit:
      scaleUpNum > 0 ? Math.min(scaleUpNum, Math.max(budgets.scaleMaxUnavailable - totalUnavailable, 0)) : 0,
    scaleDownNum,
    scaleDownNumOldRevision: scaleDownNum > 0 ? Math.max(currentOld - old.toDelete - expectedOld, 0) : 0,
    deleteReadyLimit:
      toDelete > 0 || scaleDownNum > 0 ? Math.max(maxUnavailable + (pods.length - replicas) - totalUnavailable, 0) : 0,
    useSurge,
    useSurgeOldRevision,
    updateNum,
    updateMaxUnavailable: updateNum === 0 ? 0 : maxUnavailable + pods.length - replicas,
  };
}

interface SurgeNeeds {
  oldDiff: number;
  newDiff: number;
  toDelete: number;
  toDeleteNew: number;
  totalUnavailable: number;
}

/** Surge serves pods to delete or pods to update, whichever needs more. */
function surgeOf(
  { maxSurge, maxUnavailable }: Budgets,
  needs: SurgeNeeds,
): { useSurge: number; useSurgeOldRevision: number } {
  if (maxSurge <= 0) return { useSurge: 0, useSurgeOldRevision: 0 };
  const { oldDiff, newDiff, toDelete, toDeleteNew, totalUnavailable } = needs;
  const scaleSurge = Math.min(Math.max(totalUnavailable + toDelete - maxUnavailable, 0), toDelete);
  const scaleOldSurge = Math.max(scaleSurge - toDeleteNew, 0);
  const { updateSurge, updateOldSurge } = surgeOfUpdate(oldDiff, newDiff);
  if (scaleSurge >= updateSurge)
    return { useSurge: Math.min(maxSurge, scaleSurge), useSurgeOldRevision: Math.min(maxSurge, scaleOldSurge) };
  return { useSurge: Math.min(maxSurge, updateSurge), useSurgeOldRevision: Math.min(maxSurge, updateOldSurge) };
}

/** One side has too many pods and the other too few; pods that are rolled back count as extra old pods. */
function surgeOfUpdate(oldDiff: number, newDiff: number): { updateSurge: number; updateOldSurge: number } {
  if (oldDiff * newDiff >= 0) return { updateSurge: 0, updateOldSurge: 0 };
  const updateSurge = Math.min(Math.abs(oldDiff), Math.abs(newDiff));
  return { updateSurge, updateOldSurge: oldDiff < 0 ? updateSurge : 0 };
}
