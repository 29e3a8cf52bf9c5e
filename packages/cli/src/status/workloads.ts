/** Where workloads run, from their bindings. Pure. */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import type { WorkloadStatus } from "./fleet-status.ts";

export function summariseWorkload({ metadata, spec, status }: DeepReadonly<ResourceBinding>): WorkloadStatus {
  return {
    namespace: spec.resource.namespace ?? "",
    name: spec.resource.name,
    kind: spec.resource.kind,
    desired: desiredOf(spec),
    ready: (status?.aggregatedStatus ?? []).reduce((sum, item) => sum + readyOf(item.status), 0),
    applied: appliedOf(status?.conditions ?? [], metadata.deletionTimestamp !== undefined),
    placement: placementOf(spec),
  };
}

/** A dependency has no clusters of its own; it is on those of its dependents. */
function placementOf({ clusters = [], requiredBy = [] }: DeepReadonly<ResourceBinding>["spec"]): string {
  if (clusters.length > 0)
    return clusters.map(({ name, replicas }) => (replicas === undefined ? name : `${name}=${replicas}`)).join(" ");
  return [...new Set(requiredBy.flatMap((owner) => (owner.clusters ?? []).map(({ name }) => name)))]
    .toSorted()
    .join(" ");
}

/** A failed dispatch comes first: the members then still run the previous version. */
function appliedOf(
  conditions: DeepReadonly<NonNullable<NonNullable<ResourceBinding["status"]>["conditions"]>>,
  isDeleting: boolean,
): string {
  const dispatched = findCondition(conditions, "Dispatched");
  if (dispatched?.status === "False") return dispatched.reason;
  return findCondition(conditions, "FullyApplied")?.status ?? (isDeleting ? "Deleting" : "Unknown");
}

/** Over all members: with duplicated replicas each member runs all of them. Undefined for objects without replicas. */
function desiredOf({ replicas, clusters = [] }: DeepReadonly<ResourceBinding>["spec"]): number | undefined {
  if (replicas === undefined) return undefined;
  return clusters.length === 0 ? replicas : clusters.reduce((sum, cluster) => sum + (cluster.replicas ?? 0), 0);
}

function readyOf(status: unknown): number {
  const ready = (status as { readyReplicas?: unknown } | undefined)?.readyReplicas;
  return typeof ready === "number" ? ready : 0;
}
