/**
 * The pods of a budget and their desired number: the pods of its target workload, or the selected pods with the
 * replicas of their workloads. Pure.
 */
import { PROTECT_TOTAL_REPLICAS_ANNOTATION } from "./podunavailablebudget-versions.ts";
import { ApiError, controllerOf, labelSelectorOf, matchesLabels, nothing } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery";
import { isActive } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyBudget } from "./budget-pod-state.ts";

export interface WorkloadRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Set if the pod's owner reference has it: a new workload of the same name is another one. */
  readonly uid?: string;
}

/** A workload that is not terminating. */
export interface Workload {
  uid: string;
  replicas: number;
  /** The owners of its pods: itself, or the ReplicaSets of a Deployment. */
  ownerUids: readonly string[];
  /** If pods have no owner reference: the selector of their labels. */
  selector?: (labels: Readonly<Record<string, string>> | undefined) => boolean;
}

/** Reads in the budget's namespace. */
export interface ScopeReader {
  selected(matches: (pod: ReadonlyPod) => boolean): ReadonlyPod[];
  ownedBy(uid: string): ReadonlyPod[];
  workload(ref: WorkloadRef): Workload | undefined;
}

export interface Scope {
  pods: ReadonlyPod[];
  expected: number;
}

export function scopeOf(budget: ReadonlyBudget, reader: ScopeReader): Scope {
  const { targetRef, selector } = budget.spec ?? {};
  const total = totalReplicas(budget);
  if (targetRef) {
    const workload = reader.workload({
      apiVersion: targetRef.apiVersion ?? "",
      kind: targetRef.kind ?? "",
      name: targetRef.name ?? "",
    });
    return { pods: workload ? podsOf(workload, reader) : [], expected: total ?? workload?.replicas ?? 0 };
  }
  if (!selector) return { pods: [], expected: 0 };
  const wanted = budgetSelector(selector);
  const pods = reader.selected((pod) => isActive(pod) && matchesLabels(wanted, pod.metadata.labels));
  return { pods, expected: total ?? expectedOf(pods, reader) };
}

/** An invalid selector selects nothing: pods must not depend on the validity of a budget. */
export function budgetSelector(selector: NonNullable<ReadonlyBudget["spec"]>["selector"]): LabelSelector {
  try {
    return labelSelectorOf(selector);
  } catch (error) {
    if (error instanceof ApiError) return nothing;
    throw error;
  }
}

function totalReplicas({ metadata, spec }: ReadonlyBudget): number | undefined {
  if (spec?.protectTotalReplicas !== undefined) return spec.protectTotalReplicas;
  // A text that is not a number counts as 0, as upstream does.
  return metadata.annotations?.[PROTECT_TOTAL_REPLICAS_ANNOTATION] ? 0 : undefined;
}

function podsOf(workload: Workload, reader: ScopeReader): ReadonlyPod[] {
  if (workload.replicas === 0) return [];
  const { selector } = workload;
  const owned = workload.ownerUids.flatMap((uid) => reader.ownedBy(uid)).filter(isActive);
  return owned.length > 0 || !selector
    ? owned
    : reader.selected((pod) => isActive(pod) && selector(pod.metadata.labels));
}

/** The sum of the desired replicas of these pods' workloads; pods without one add 0. */
function expectedOf(pods: readonly ReadonlyPod[], reader: ScopeReader): number {
  const replicas = new Map<string, number>();
  const seen = new Set<string>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner || seen.has(owner.uid)) continue;
    seen.add(owner.uid);
    const workload = reader.workload(owner);
    if (workload) replicas.set(workload.uid, workload.replicas);
  }
  let sum = 0;
  for (const count of replicas.values()) sum += count;
  return sum;
}
