/**
 * What a scheduling cycle shows its plugins, and what they answer.
 *
 * The view is made once per cycle and never changes; everything that depends on the binding alone is computed there, so a
 * plugin costs what it reads of one cluster.
 */
import type { Cluster, ClusterSpec, ObjectMeta, Placement as ApiPlacement, ResourceBindingSpec, ResourceBindingStatus } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { compileAffinity, type ClusterAffinity, type ClusterFacts } from "../cluster-affinity.ts";

/** What scheduling reads of a Cluster. */
export type ClusterView = DeepReadonly<{
  metadata: Pick<ObjectMeta, "name" | "labels" | "deletionTimestamp">;
  spec?: Pick<ClusterSpec, "provider" | "region" | "zones" | "taints">;
  status?: Pick<NonNullable<Cluster["status"]>, "apiEnablements">;
}>;

export type Placement = DeepReadonly<ApiPlacement>;
export type AffinityTerm = NonNullable<Placement["clusterAffinities"]>[number];

/** What scheduling reads of a binding. */
export type BindingSpecView = DeepReadonly<
  Pick<ResourceBindingSpec, "resource" | "replicas" | "replicaRequirements" | "components" | "clusters" | "placement" | "gracefulEvictionTasks" | "rescheduleTriggeredAt">
>;
export type BindingStatusView = DeepReadonly<Pick<ResourceBindingStatus, "schedulerObservingAffinityName" | "lastScheduledTime">>;

/** One frozen view of the cycle. */
export interface SchedulingView {
  readonly spec: BindingSpecView;
  readonly placement: Placement;
  /** Clusters that the resource already runs on. */
  readonly targets: ReadonlySet<string>;
  /** Clusters that the resource is being moved away from. */
  readonly evicting: ReadonlySet<string>;
  /** Undefined when the placement names no affinity: every cluster will do. */
  readonly affinity: ((cluster: ClusterFacts) => boolean) | undefined;
}

export function createView(spec: BindingSpecView, affinity: ClusterAffinity | undefined): SchedulingView {
  return Object.freeze({
    spec,
    placement: spec.placement ?? {},
    targets: new Set(spec.clusters?.map(({ name }) => name)),
    evicting: new Set(spec.gracefulEvictionTasks?.map(({ fromCluster }) => fromCluster)),
    affinity: affinity && compileAffinity(affinity),
  });
}

/** The affinity of the cycle: the only one, or the term that the binding observes at the moment. */
export function currentAffinity(placement: Placement | undefined, status: BindingStatusView | undefined): ClusterAffinity | undefined {
  if (placement?.clusterAffinity) return placement.clusterAffinity;
  return currentTerm(placement, status);
}

export function currentTerm(placement: Placement | undefined, status: BindingStatusView | undefined): AffinityTerm | undefined {
  const observing = status?.schedulerObservingAffinityName ?? "";
  return placement?.clusterAffinities?.find(({ affinityName }) => affinityName === observing);
}

export type Verdict = { readonly fits: true } | { readonly fits: false; readonly reason: string };
export const fits: Verdict = Object.freeze({ fits: true });
/** The reason is what the user reads in the condition. */
export function rejects(reason: string): Verdict {
  return { fits: false, reason };
}

export interface FilterPlugin {
  readonly name: string;
  filter(view: SchedulingView, cluster: ClusterView): Verdict;
}

export interface ScorePlugin {
  readonly name: string;
  /** 0 to 100; larger is better. */
  score(view: SchedulingView, cluster: ClusterView): number;
}
