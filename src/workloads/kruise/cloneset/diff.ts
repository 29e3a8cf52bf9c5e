/**
 * The heart of CloneSet: from the pods that are there to the numbers to create, delete and update.
 *
 * Everything else follows these numbers; nothing else weighs partition, surge and unavailability against each other.
 * Reads: spec and active pods. Writes nothing.
 */
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import type { FeatureGates } from "../feature-gates.ts";
import { lifecycleState } from "../lifecycle/lifecycle.ts";
import { legacyShare, partitionOf } from "../shares.ts";
import type { IntOrPercent, Rounding } from "../shares.ts";
import { EXCLUDE_PREPARING_DELETE_LABEL } from "./names.ts";
import { isPodAvailable, isSpecifiedDelete } from "./pod-state.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";

export interface Diff {
  /** Pods that are missing, and how many of them should have the current (old) revision. */
  scaleUpNum: number;
  scaleUpNumOldRevision: number;
  /** How many may be created now, by `scaleStrategy.maxUnavailable`. */
  scaleUpLimit: number;
  /** Pods that are too many, and how many of them should go from the old revisions. */
  scaleDownNum: number;
  scaleDownNumOldRevision: number;
  /** How many ready pods may be deleted now. */
  deleteReadyLimit: number;
  /** Pods beyond `replicas` that help an update or a deletion along. */
  useSurge: number;
  useSurgeOldRevision: number;
  /** Pods to bring to the update revision; negative means back to the current one. */
  updateNum: number;
  updateMaxUnavailable: number;
}

/** What CloneSet assumes when `maxUnavailable` is not set. */
const DEFAULT_MAX_UNAVAILABLE = "20%";

export interface Budgets {
  replicas: number;
  /** 0 when the partition cannot be read. */
  partition: number;
  maxSurge: number;
  maxUnavailable: number;
  scaleMaxUnavailable: number;
}

/** What cannot be read counts as none. */
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

/** Every pod is looked at once: a set of thousands is counted with every change of a pod. */
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

/** Which pods are weighed, and how. */
export interface DiffInput {
  cloneSet: ReadonlyCloneSet;
  /** Active pods alone. */
  pods: readonly ReadonlyPod[];
  currentRevision: string;
  updateRevision: string;
  gates: FeatureGates;
  nowMs: number;
}

/** `isUpdated` says which pods count as new: a scale and an update pass may differ in that. */
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
  // Raising the partition takes no pods back to the old revision: only too many old and too few new pods count.
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

/** Surge serves either pods that are to be deleted or pods that are to be updated, whichever needs more of it. */
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

/** One side has too many pods and the other too few; the pods that go back to the old revision are extra old pods. */
function surgeOfUpdate(oldDiff: number, newDiff: number): { updateSurge: number; updateOldSurge: number } {
  if (oldDiff * newDiff >= 0) return { updateSurge: 0, updateOldSurge: 0 };
  const updateSurge = Math.min(Math.abs(oldDiff), Math.abs(newDiff));
  return { updateSurge, updateOldSurge: oldDiff < 0 ? updateSurge : 0 };
}
