/**
 * The inputs of scheduling plugins, and their results.
 *
 * The view is created once per cycle and never changes; everything that depends on the binding alone is computed there,
 * so a plugin costs only its reads of one cluster. Values that depend on a cluster alone are read when the cluster
 * changes (`fleet-view.ts`).
 */
import type { Placement as ApiPlacement } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { ResourceBindingSpec, ResourceBindingStatus } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { DeepReadonly } from "@flotilla/base";
import { compileAffinity, type ClusterAffinity, type ClusterFacts } from "../policies/cluster-affinity.ts";
import type { RunView } from "../jobs/finished-run.ts";
import type { FleetCluster } from "./fleet-cluster.ts";
import type { Neighbours } from "./workload-groups.ts";

export type Placement = DeepReadonly<ApiPlacement>;
export type AffinityTerm = NonNullable<Placement["clusterAffinities"]>[number];

/** The fields of a binding that scheduling reads. */
export type BindingSpecView = DeepReadonly<
  Pick<
    ResourceBindingSpec,
    | "resource"
    | "replicas"
    | "replicaRequirements"
    | "components"
    | "clusters"
    | "placement"
    | "gracefulEvictionTasks"
    | "rescheduleTriggeredAt"
  >
>;
export type BindingStatusView = DeepReadonly<
  Pick<ResourceBindingStatus, "schedulerObservingAffinityName" | "lastScheduledTime">
> &
  NonNullable<RunView["status"]>;

/** The affinity of a cycle: the placement's only one, or one of its terms with its overflow. */
export interface CycleAffinity {
  readonly primary: ClusterAffinity;
  /** Set for a term of `clusterAffinities`. */
  readonly name?: string;
  /** Takes replicas that do not fit the primary clusters, in this order. */
  readonly overflow: readonly ClusterAffinity[];
}

/** An immutable view of the cycle. */
export interface SchedulingView {
  readonly spec: BindingSpecView;
  readonly placement: Placement;
  /** `apiVersion/kind` of the resource, as in `FleetCluster.serves`. */
  readonly served: string;
  /** Clusters that the resource already runs on, with the replicas there. */
  readonly targets: ReadonlyMap<string, number>;
  readonly nowMs: number;
  /** The other bindings of its workload groups; undefined without a group. */
  readonly neighbours: Neighbours | undefined;
  /** Clusters that the resource is being moved away from. */
  readonly evicting: ReadonlySet<string>;
  /**
   * 0 for a cluster of the primary affinity, 1 and up for its overflow affinities, undefined for one that the placement
   * does not select. Without an affinity every cluster is selected.
   */
  readonly tierOf: (cluster: ClusterFacts) => number | undefined;
}

const EVERYWHERE = (): number => 0;

export function createView(
  spec: BindingSpecView,
  affinity: CycleAffinity | undefined,
  nowMs = 0,
  neighbours?: Neighbours,
): SchedulingView {
  const { apiVersion, kind } = spec.resource;
  return Object.freeze({
    spec,
    placement: spec.placement ?? {},
    served: servedKey(apiVersion, kind),
    targets: new Map(spec.clusters?.map(({ name, replicas = 0 }) => [name, replicas])),
    evicting: new Set(spec.gracefulEvictionTasks?.map(({ fromCluster }) => fromCluster)),
    nowMs,
    neighbours,
    tierOf: affinity ? compileTiers(affinity, isWorkload(spec)) : EVERYWHERE,
  });
}

/** Only resources that need room overflow: a ConfigMap stays with the primary clusters. */
function compileTiers({ primary, overflow }: CycleAffinity, overflows: boolean): SchedulingView["tierOf"] {
  const matchers = [primary, ...(overflows ? overflow : [])].map(compileAffinity);
  return (cluster) => {
    for (let tier = 0; tier < matchers.length; tier++) if (matchers[tier]?.(cluster)) return tier;
    return undefined;
  };
}

export const servedKey = (apiVersion: string, kind: string): string => `${apiVersion}/${kind}`;

/** Whether the resource runs pods, according to the binding. */
export function isWorkload({ replicas = 0, replicaRequirements, components = [] }: BindingSpecView): boolean {
  return replicas > 0 || replicaRequirements !== undefined || components.length > 0;
}

export function affinityOf(term: AffinityTerm): CycleAffinity {
  return { primary: term, name: term.affinityName, overflow: term.overflowAffinities ?? [] };
}

export function currentTerm(
  placement: Placement | undefined,
  status: BindingStatusView | undefined,
): AffinityTerm | undefined {
  const observing = status?.schedulerObservingAffinityName ?? "";
  return placement?.clusterAffinities?.find(({ affinityName }) => affinityName === observing);
}

export type Verdict = { readonly fits: true } | { readonly fits: false; readonly reason: string };
export const fits: Verdict = Object.freeze({ fits: true });
/** The reason is shown to users in the condition. */
export function rejects(reason: string): Verdict {
  return Object.freeze({ fits: false, reason });
}

export interface FilterPlugin {
  readonly name: string;
  filter(view: SchedulingView, cluster: FleetCluster): Verdict;
}

export interface ScorePlugin {
  readonly name: string;
  /** 0 to 100; larger is better. */
  score(view: SchedulingView, cluster: FleetCluster): number;
}
