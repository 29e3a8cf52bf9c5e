/** Which changes of pods and workloads affect a PodUnavailableBudget. */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { ObjectKey } from "@flotilla/client";
import { keyOf } from "@flotilla/controller-runtime";
import type { Informer, ObjectEvent } from "@flotilla/controller-runtime";
import type { Pod } from "@flotilla/kubernetes";
import type { FeatureGates } from "../api/feature-gates.ts";
import { RELATED_BUDGET_ANNOTATION, isAvailable } from "./budget-pod-state.ts";
import type { PodUnavailableBudget } from "./podunavailablebudget-kind.ts";
import { budgetFor } from "./related.ts";

export type Replicated = KubernetesObject & {
  spec?: { replicas?: number; template?: { metadata?: { labels?: Record<string, string> } } };
};

/**
 * Maps a pod to its budget when the pod became available or unavailable, or joined or left the budget; other changes
 * are ignored.
 */
export function budgetsOfPod({ cluster, object, old, deleted }: ObjectEvent<Pod>, gates: FeatureGates): ObjectKey[] {
  const { namespace, annotations, deletionTimestamp } = object.metadata;
  const name = annotations?.[RELATED_BUDGET_ANNOTATION];
  const before = old?.metadata.annotations?.[RELATED_BUDGET_ANNOTATION];
  if (!name && !before) return [];
  const counts =
    !old ||
    deleted ||
    name !== before ||
    old.metadata.deletionTimestamp !== deletionTimestamp ||
    isAvailable(old, gates) !== isAvailable(object, gates);
  if (!counts) return [];
  return [...new Set([name, before])].flatMap((budget) =>
    budget ? [{ cluster, name: budget, namespace: namespace || undefined }] : [],
  );
}

/** A scaled-down workload needs fewer pods, and its own deletions must not be rejected for that. */
export function budgetsOfScaled(
  kind: Kind<Replicated>,
  { cluster, object, old, deleted }: ObjectEvent<Replicated>,
  budgets: Informer<PodUnavailableBudget>,
): ObjectKey[] {
  if (
    old &&
    !deleted &&
    old.spec?.replicas === object.spec?.replicas &&
    old.metadata.deletionTimestamp === object.metadata.deletionTimestamp
  )
    return [];
  const { namespace = "", name } = object.metadata;
  const there = budgets.list({ cluster, namespace });
  if (there.length === 0) return [];
  const budget = budgetFor(
    there,
    { apiVersion: `${kind.group}/${kind.storageVersion}`, kind: kind.kind, name },
    object.spec?.template?.metadata?.labels,
  );
  return budget ? [keyOf(cluster, budget)] : [];
}
