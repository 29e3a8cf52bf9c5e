/**
 * Decides when a binding with clusters is scheduled again. Any other change leaves a running workload in place: a
 * taint, a label or a full cluster alone moves no divided replicas.
 */
import { equalJson, isObject, type DeepReadonly } from "@flotilla/base";
import type { ScheduleType } from "../meter.ts";
import { isDivisible, isFresh, strategyOf } from "./assign.ts";
import type { Fleet } from "./fleet-view.ts";
import { isWorkload, type BindingSpecView, type BindingStatusView, type Placement } from "./framework.ts";
import { APPLIED_PLACEMENT } from "@flotilla/karmada";

export type BindingView = DeepReadonly<{
  metadata: { annotations?: Record<string, string> };
  spec: BindingSpecView;
  status?: BindingStatusView;
}>;

/** The cheap reasons come first. */
export function needsScheduling({ metadata, spec, status }: BindingView, fleet: Fleet): boolean {
  const { clusters = [], placement } = spec;
  if (clusters.length === 0 || isFresh(spec, status)) return true;
  // A resource on every cluster follows every change of the clusters.
  if (!isWorkload(spec) || strategyOf(placement) === "Duplicated") return true;
  if (isDivisible(spec) && clusters.reduce((sum, { replicas = 0 }) => sum + replicas, 0) !== (spec.replicas ?? 0))
    return true;
  // An eviction task takes effect by choosing other clusters; so nothing leaves before there is a replacement.
  if (isEvicted(spec) || !clusters.every(({ name }) => fleet.isStaying(name))) return true;
  return hasPlacementChanged(metadata.annotations?.[APPLIED_PLACEMENT], placement ?? {}, status);
}

/** What is decided: only the replicas of the current clusters, or the clusters. */
export function scheduleType({ metadata, spec, status }: BindingView): ScheduleType {
  const { clusters = [], placement, replicas = 0 } = spec;
  if (
    clusters.length === 0 ||
    !isDivisible(spec) ||
    hasPlacementChanged(metadata.annotations?.[APPLIED_PLACEMENT], placement ?? {}, status)
  )
    return "ReconcileSchedule";
  const isScaled =
    strategyOf(placement) === "Duplicated"
      ? clusters.some((cluster) => (cluster.replicas ?? 0) !== replicas)
      : clusters.reduce((sum, cluster) => sum + (cluster.replicas ?? 0), 0) !== replicas;
  return isScaled ? "ScaleSchedule" : "ReconcileSchedule";
}

/** Whether the resource is being evicted from a cluster that it is still assigned to. */
function isEvicted({ clusters = [], gracefulEvictionTasks = [] }: BindingSpecView): boolean {
  return gracefulEvictionTasks.some(({ fromCluster }) => clusters.some(({ name }) => name === fromCluster));
}

function hasPlacementChanged(
  applied: string | undefined,
  now: Placement,
  status: BindingStatusView | undefined,
): boolean {
  const before = applied === undefined ? undefined : parsePlacement(applied);
  if (!before) return true;
  if (equalJson(before, now)) return false;
  if (!before.clusterAffinities || !now.clusterAffinities) return true;
  // With terms only the current one counts: changing a later term must not move running workloads.
  const observing = status?.schedulerObservingAffinityName;
  const inUse = ({ clusterAffinities = [], ...rest }: Placement): unknown => ({
    ...rest,
    term: clusterAffinities.find(({ affinityName }) => affinityName === observing),
  });
  return (
    !now.clusterAffinities.some(({ affinityName }) => affinityName === observing) ||
    !equalJson(inUse(before), inUse(now))
  );
}

/** Undefined when the annotation is corrupt, which counts as a change. */
function parsePlacement(text: string): Placement | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
