/**
 * Decides which members a resource leaves because of their NoExecute taints. Pure.
 *
 * Without a failover policy only `flotilla drain` moves a resource, because its taint is a request to leave. It moves
 * namespaced objects: cluster-scoped ones, such as CRDs and ClusterRoles, run no pods, and other objects of the member
 * may depend on them.
 *
 * A toleration counts from the taint's timeAdded on the Cluster, so a hub restart loses nothing.
 */
import type { Cluster, ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import {
  formatTaint,
  matchingTolerations,
  minTolerationMs,
  noExecuteTaints,
  toleratesTaint,
  type Taint,
  type Toleration,
} from "../schedule/tolerations.ts";
import { DRAIN_TAINT } from "../../flotilla-names.ts";
import { isFinishedRun } from "../jobs/finished-run.ts";
import type { Departure } from "./departure.ts";

export interface ClusterPlan {
  readonly due: readonly Departure[];
  /** When the next toleration ends. */
  readonly requeueAfterMs?: number;
}

/**
 * Handling of resources whose policy does not configure cluster failover. Karmada moves them only if a flag enables it.
 */
export interface UnaskedEviction {
  readonly purgeMode: "Directly" | "Gracefully";
}

const PRODUCER = "TaintManager";

export function planClusterFailover(
  binding: DeepReadonly<ResourceBinding>,
  clusterOf: (name: string) => DeepReadonly<Cluster> | undefined,
  unasked: UnaskedEviction | undefined,
  nowMs: number,
): ClusterPlan {
  const { spec } = binding;
  const behavior = spec.failover?.cluster ?? unasked;
  // A finished run has nothing left to move.
  if (isFinishedRun(binding)) return { due: [] };
  const purgeMode = behavior?.purgeMode ?? "Gracefully";
  const rules = spec.failover?.cluster?.statePreservation?.rules;
  const tolerations = spec.placement?.clusterTolerations ?? [];
  const leaving = new Set(spec.gracefulEvictionTasks?.map(({ fromCluster }) => fromCluster));
  const leaves = leavesOnDrain(binding);
  const due: Departure[] = [];
  let nextMs = Infinity;
  for (const { name } of spec.clusters ?? []) {
    const present = noExecuteTaints(clusterOf(name)?.spec.taints ?? []);
    const taints = present.filter((taint) => (isDrain(taint) ? leaves : behavior !== undefined));
    if (taints.length === 0 || leaving.has(name)) continue;
    const leftMs = toleratedMs(taints, tolerations, nowMs);
    if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
    else
      due.push({
        cluster: name,
        reason: "TaintUntolerated",
        message: describe(taints, tolerations, nowMs),
        producer: PRODUCER,
        isDrain: taints.some(isDrain),
        purgeMode,
        rules,
      });
  }
  return { due, requeueAfterMs: Number.isFinite(nextMs) ? nextMs : undefined };
}

/** Whether a drain moves an object of this scope; a policy with `failover.cluster` moves all that it selects. */
export const leavesOnDrain = ({ spec }: { readonly spec: DeepReadonly<ResourceBinding>["spec"] }): boolean =>
  spec.resource.namespace !== undefined || spec.failover?.cluster !== undefined;

const isDrain = ({ key }: Taint): boolean => key === DRAIN_TAINT;

/** Whether workloads leave this cluster whatever their policies configure. */
export function isDraining({ spec }: DeepReadonly<Cluster>): boolean {
  return noExecuteTaints(spec.taints ?? []).some(isDrain);
}

function toleratedMs(taints: readonly Taint[], tolerations: readonly Toleration[], nowMs: number): number {
  const used = matchingTolerations(taints, tolerations);
  return used ? minTolerationMs(taints, used, nowMs) : 0;
}

function describe(taints: readonly Taint[], tolerations: readonly Toleration[], nowMs: number): string {
  const untolerated = taints.find((taint) => !tolerations.some((toleration) => toleratesTaint(toleration, taint)));
  if (untolerated) return `the cluster has the taint ${formatTaint(untolerated)}, which the policy does not tolerate`;
  const over = taints.find((taint) => toleratedMs([taint], tolerations, nowMs) <= 0);
  return `the cluster has the taint ${over ? formatTaint(over) : ""}, and the policy's toleration has expired`;
}
