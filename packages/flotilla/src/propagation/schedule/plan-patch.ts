/** Decides whether a binding is scheduled at all, and which fields a decision changes. Pure. */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { SchedulePlan } from "./plan-schedule.ts";
import { APPLIED_PLACEMENT, CLUSTER_POLICY_ID, POLICY_ID } from "@flotilla/karmada";

export const SCHEDULER_NAME = "default-scheduler";

/** Not while it is suspended or being deleted, nor when it names another scheduler. */
export function isToBeScheduled(binding: DeepReadonly<ResourceBinding>): boolean {
  const { spec, metadata } = binding;
  return (
    !metadata.deletionTimestamp &&
    !spec.suspension?.scheduling &&
    (spec.schedulerName ?? SCHEDULER_NAME) === SCHEDULER_NAME &&
    !isOnlyNeeded(binding)
  );
}

/** No policy propagates it: it follows the bindings that require it, and is not scheduled itself. */
export function isOnlyNeeded({ metadata: { labels }, spec }: DeepReadonly<ResourceBinding>): boolean {
  return spec.placement === undefined && labels?.[POLICY_ID] === undefined && labels?.[CLUSTER_POLICY_ID] === undefined;
}

/** A merge patch of the binding; undefined when it already matches the plan. */
export function planPatch({ metadata, spec }: DeepReadonly<ResourceBinding>, plan: SchedulePlan): Json | undefined {
  if (plan.outcome === "unschedulable" && plan.staying)
    return {
      metadata: { resourceVersion: metadata.resourceVersion },
      spec: { clusters: plan.staying },
    } as unknown as Json;
  if (plan.outcome !== "scheduled") return undefined;
  const { clusters, evictions = [] } = plan;
  const placement = JSON.stringify(spec.placement ?? {});
  if (
    evictions.length === 0 &&
    isSameResult(clusters, spec.clusters ?? []) &&
    metadata.annotations?.[APPLIED_PLACEMENT] === placement
  )
    return undefined;
  return {
    metadata: { resourceVersion: metadata.resourceVersion, annotations: { [APPLIED_PLACEMENT]: placement } },
    spec: {
      clusters,
      gracefulEvictionTasks: evictions.length > 0 ? [...(spec.gracefulEvictionTasks ?? []), ...evictions] : undefined,
    },
  } as unknown as Json;
}

type Targets = readonly { readonly name: string; readonly replicas?: number }[];

/** The order of clusters has no meaning; another scheduler's order is not rewritten. */
function isSameResult(next: Targets, before: Targets): boolean {
  if (next.length !== before.length) return false;
  const replicas = new Map(before.map((target) => [target.name, target.replicas ?? 0]));
  return next.every((target) => replicas.get(target.name) === (target.replicas ?? 0));
}
