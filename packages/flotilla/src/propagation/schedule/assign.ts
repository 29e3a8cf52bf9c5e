/**
 * Computes how many replicas each chosen cluster gets.
 *
 * Duplicated gives every cluster all replicas; static weights divide by the policy's numbers, always from scratch.
 * Dynamic weights divide by free capacity and Aggregated fills as few clusters as possible; both start from the
 * previous result ("steady") and move only the difference, unless a rebalance requests a "fresh" start.
 *
 * A resource without replicas (a ConfigMap, a multi-component workload) is placed on every chosen cluster.
 */
import type { StaticClusterWeight } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { compileAffinity, type ClusterFacts } from "../policies/cluster-affinity.ts";
import { divideByWeight, type ClusterReplicas, type WeightedCluster } from "../replicas/webster.ts";
import { currentTerm, type BindingSpecView, type BindingStatusView, type Placement } from "./framework.ts";
import { goSort } from "./go-sort.ts";
import { takeNamed } from "./take-named.ts";

/** A cluster that passed selection, with its known capacity. */
export interface Candidate {
  readonly cluster: ClusterFacts;
  /** Additional replicas that fit. */
  readonly allocatableReplicas: number;
  /** The same, plus those that the resource already has there. */
  readonly availableReplicas: number;
  /** 0 for the primary affinity, 1 and up for its overflow affinities. */
  readonly overflowOrder: number;
}

export interface AssignmentInput {
  /** Decides which of several equal clusters gets the last replica; defaults to the template's uid, as in Karmada. */
  readonly tieBreaker?: string;
  readonly candidates: readonly Candidate[];
  readonly spec: BindingSpecView;
  readonly status?: BindingStatusView;
  /** Keeps clusters that got no replicas in the result, with 0. */
  readonly enableEmptyWorkloadPropagation?: boolean;
  /** Clusters that have pods which the template names for deletion, one entry per pod. */
  readonly named?: readonly string[];
}

export interface AssignedCluster {
  name: string;
  replicas?: number;
}

export type Assignment =
  | { readonly ok: true; readonly clusters: AssignedCluster[] }
  /**
   * `capacity`: the clusters are too small, which may change by itself. `placement`: the placement cannot be satisfied.
   */
  | { readonly ok: false; readonly cause: "capacity" | "placement"; readonly message: string };

export type DivisionStrategy = "Duplicated" | "StaticWeight" | "DynamicWeight" | "Aggregated";

/** Undefined for a Divided placement without preference, which admission completes but a stored one may lack. */
export function strategyOf(placement: Placement | undefined): DivisionStrategy | undefined {
  const scheduling = placement?.replicaScheduling;
  if (!scheduling || scheduling.replicaSchedulingType === "Duplicated") return "Duplicated";
  if (scheduling.replicaDivisionPreference === "Aggregated") return "Aggregated";
  if (scheduling.replicaDivisionPreference === "Weighted")
    return scheduling.weightPreference?.dynamicWeight ? "DynamicWeight" : "StaticWeight";
  return undefined;
}

/**
 * Whether the binding has replicas that a placement can divide. A multi-component workload is placed on a cluster as a
 * whole.
 */
export function isDivisible({ replicas = 0, replicaRequirements, components = [] }: BindingSpecView): boolean {
  return components.length <= 1 && (replicas > 0 || replicaRequirements !== undefined);
}

/** True when a rebalance was requested after the last scheduling. */
export function isFresh({ rescheduleTriggeredAt }: BindingSpecView, status: BindingStatusView | undefined): boolean {
  if (!rescheduleTriggeredAt || !status?.lastScheduledTime) return false;
  return Date.parse(rescheduleTriggeredAt) > Date.parse(status.lastScheduledTime);
}

export function assignReplicas(input: AssignmentInput): Assignment {
  const { candidates, status, enableEmptyWorkloadPropagation = false } = input;
  if (candidates.length === 0) return { ok: false, cause: "placement", message: "no clusters available to schedule" };
  if (!isDivisible(input.spec))
    return { ok: true, clusters: candidates.map(({ cluster }) => ({ name: cluster.metadata.name })) };

  const spec = withoutNamed(input);
  const division =
    takenByName(input, spec) ??
    divide(
      { ...input, spec },
      spec.replicas ?? 0,
      Boolean(currentTerm(spec.placement, status)?.overflowAffinities?.length),
    );
  if (!division.ok) return division;
  const clusters = division.clusters.filter(({ replicas }) => replicas > 0);
  if (!enableEmptyWorkloadPropagation) return { ok: true, clusters };
  const assigned = new Set(clusters.map(({ name }) => name));
  const empty = candidates
    .filter(({ cluster }) => !assigned.has(cluster.metadata.name))
    .map(({ cluster }) => ({ name: cluster.metadata.name, replicas: 0 }));
  return { ok: true, clusters: [...clusters, ...empty] };
}

/** The binding without the replicas of named pods; the binding itself where its clusters are chosen again. */
function withoutNamed({ spec, status, candidates, named = [] }: AssignmentInput): BindingSpecView {
  const { clusters: previous = [], replicas = 0, placement } = spec;
  if (named.length === 0 || strategyOf(placement) === "Duplicated" || isFresh(spec, status)) return spec;
  const fitting = new Set(candidates.map(({ cluster }) => cluster.metadata.name));
  if (!previous.every(({ name }) => fitting.has(name))) return spec;
  const clusters = takeNamed(previous, replicas, named);
  return clusters === previous ? spec : { ...spec, clusters };
}

/** The whole division if the named pods are all that is removed. */
function takenByName(input: AssignmentInput, { clusters = [], replicas = 0 }: BindingSpecView): Division | undefined {
  const sizes = clusters.map(({ name, replicas: size = 0 }) => ({ name, replicas: size }));
  const isAll =
    clusters !== input.spec.clusters && sizes.reduce((sum, { replicas: size }) => sum + size, 0) === replicas;
  return isAll ? { ok: true, clusters: sizes } : undefined;
}

type Division = { readonly ok: true; readonly clusters: ClusterReplicas[] } | Extract<Assignment, { ok: false }>;

/** Overflow is for division by capacity; a placement stored by another server may combine it with any strategy. */
function divide(
  { candidates, spec, status, tieBreaker = spec.resource.uid }: AssignmentInput,
  replicas: number,
  overflows: boolean,
): Division {
  const strategy = strategyOf(spec.placement);
  if (!strategy) return { ok: false, cause: "placement", message: unknownStrategy(spec.placement) };
  const cycle: Cycle = {
    strategy,
    placement: spec.placement,
    fresh: isFresh(spec, status),
    previous: spec.clusters ?? [],
    uid: tieBreaker,
  };
  return overflows ? divideByTiers(candidates, replicas, cycle) : divideAmong(candidates, replicas, cycle);
}

function divideAmong(candidates: readonly Candidate[], replicas: number, cycle: Cycle): Division {
  const { strategy, placement, uid } = cycle;
  if (strategy === "Duplicated")
    return { ok: true, clusters: candidates.map(({ cluster }) => ({ name: cluster.metadata.name, replicas })) };
  if (strategy === "StaticWeight")
    return { ok: true, clusters: divideByWeight(replicas, staticWeights(candidates, placement), { uid }) };
  return divideByCapacity(candidates, replicas, { ...cycle, strategy });
}

function unknownStrategy(placement: Placement | undefined): string {
  const { replicaSchedulingType = "", replicaDivisionPreference = "" } = placement?.replicaScheduling ?? {};
  return (
    `replicas cannot be divided with replicaSchedulingType ${JSON.stringify(replicaSchedulingType)} and ` +
    `replicaDivisionPreference ${JSON.stringify(replicaDivisionPreference)}`
  );
}

/**
 * The largest weight of the rules that match a cluster; clusters without a rule are omitted, unless no cluster has one.
 */
function staticWeights(candidates: readonly Candidate[], placement: Placement | undefined): WeightedCluster[] {
  const weightOf = compileWeights(placement?.replicaScheduling?.weightPreference?.staticWeightList ?? []);
  const weighted: WeightedCluster[] = [];
  for (const { cluster } of candidates) {
    const weight = weightOf(cluster);
    if (weight > 0) weighted.push({ name: cluster.metadata.name, weight });
  }
  return weighted.length > 0 ? weighted : candidates.map(({ cluster }) => ({ name: cluster.metadata.name, weight: 1 }));
}

/** Rules that only name one cluster each are the common case: they are looked up in a map instead of matched. */
function compileWeights(rules: DeepReadonly<StaticClusterWeight[]>): (cluster: ClusterFacts) => number {
  const byName = new Map<string, number>();
  const others: { matches: (cluster: ClusterFacts) => boolean; weight: number }[] = [];
  for (const { targetCluster, weight } of rules) {
    const { clusterNames, labelSelector, fieldSelector, exclude } = targetCluster;
    const onlyNames = clusterNames?.length && !labelSelector && !fieldSelector && !exclude?.length;
    if (onlyNames) for (const name of clusterNames) byName.set(name, Math.max(weight, byName.get(name) ?? 0));
    else others.push({ matches: compileAffinity(targetCluster), weight });
  }
  return (cluster) => {
    let weight = byName.get(cluster.metadata.name) ?? 0;
    for (const rule of others) if (rule.weight > weight && rule.matches(cluster)) weight = rule.weight;
    return weight;
  };
}

interface Cycle {
  readonly strategy: DivisionStrategy;
  readonly placement: Placement | undefined;
  readonly fresh: boolean;
  readonly previous: NonNullable<BindingSpecView["clusters"]>;
  readonly uid: string | undefined;
}

/**
 * Fills the primary clusters first and continues with each overflow affinity for the rest; so scaling down drains the
 * last one first.
 */
function divideByTiers(candidates: readonly Candidate[], replicas: number, cycle: Cycle): Division {
  const tiers = Map.groupBy(candidates, ({ overflowOrder }) => overflowOrder);
  const clusters: ClusterReplicas[] = [];
  let left = replicas;
  for (const [, tier] of [...tiers].sort(([a], [b]) => a - b)) {
    const capacity = tier.reduce((sum, { availableReplicas }) => sum + availableReplicas, 0);
    const share = Math.min(left, capacity);
    if (share === 0) continue;
    const division = divideAmong(tier, share, cycle);
    if (!division.ok) return division;
    clusters.push(...division.clusters);
    left -= share;
  }
  return left > 0
    ? { ok: false, cause: "capacity", message: "Clusters available replicas are not enough to schedule." }
    : { ok: true, clusters };
}

type ByCapacity = Exclude<DivisionStrategy, "Duplicated" | "StaticWeight">;

function divideByCapacity(
  candidates: readonly Candidate[],
  replicas: number,
  { strategy, fresh, previous, uid }: Cycle & { readonly strategy: ByCapacity },
): Division {
  const present = new Set(candidates.map(({ cluster }) => cluster.metadata.name));
  const scheduled = previous
    .filter(({ name }) => present.has(name))
    .map(({ name, replicas = 0 }) => ({ name, replicas }));
  const assigned = scheduled.reduce((sum, { replicas }) => sum + replicas, 0);

  if (fresh) {
    const capacity = candidates.map(({ cluster, availableReplicas }) => ({
      name: cluster.metadata.name,
      weight: availableReplicas,
    }));
    return spread({ action: "failed to do fresh scale", strategy, replicas, capacity, previous: [], uid });
  }
  if (assigned > replicas) {
    const capacity = scheduled.map(({ name, replicas }) => ({ name, weight: replicas }));
    return spread({ action: "failed to scale down", strategy, replicas, capacity, previous: [], uid });
  }
  if (assigned < replicas) {
    const capacity = candidates.map(({ cluster, allocatableReplicas }) => ({
      name: cluster.metadata.name,
      weight: allocatableReplicas,
    }));
    return spread({
      action: "failed to scale up",
      strategy,
      replicas: replicas - assigned,
      capacity,
      previous: scheduled,
      uid,
    });
  }
  return { ok: true, clusters: scheduled };
}

interface SpreadInput {
  readonly action: string;
  readonly strategy: ByCapacity;
  readonly replicas: number;
  readonly capacity: WeightedCluster[];
  /** Replicas that stay in place. Aggregated fills these clusters before others. */
  readonly previous: readonly ClusterReplicas[];
  readonly uid: string | undefined;
}

/** All or nothing: with insufficient capacity no replica is placed. */
function spread({ action, strategy, replicas, capacity, previous, uid }: SpreadInput): Division {
  const total = capacity.reduce((sum, { weight }) => sum + weight, 0);
  if (total < replicas) return tooSmall(total, action);
  const clusters = strategy === "Aggregated" ? fewest(capacity, replicas, previous) : capacity;
  return { ok: true, clusters: merge(previous, divideByWeight(replicas, clusters, { uid })) };
}

/**
 * Adds the new replicas to the previous ones: the previous replicas do not influence which clusters get the new ones.
 */
function merge(previous: readonly ClusterReplicas[], given: readonly ClusterReplicas[]): ClusterReplicas[] {
  const sums = new Map(previous.map(({ name, replicas }) => [name, replicas]));
  for (const { name, replicas } of given) sums.set(name, (sums.get(name) ?? 0) + replicas);
  return Array.from(sums, ([name, replicas]) => ({ name, replicas }));
}

/** The fewest clusters that can take the replicas: those that already have some, then the largest first. */
function fewest(
  capacity: WeightedCluster[],
  replicas: number,
  previous: readonly ClusterReplicas[],
): WeightedCluster[] {
  const bySize = goSort(capacity, (a, b) => a.weight > b.weight);
  const used = new Set(previous.filter(({ replicas }) => replicas > 0).map(({ name }) => name));
  const row = [...bySize.filter(({ name }) => used.has(name)), ...bySize.filter(({ name }) => !used.has(name))];
  let sum = 0;
  const end = row.findIndex(({ weight }) => (sum += weight) >= replicas);
  return end < 0 ? row : row.slice(0, end + 1);
}

function tooSmall(available: number, action: string): Division {
  return {
    ok: false,
    cause: "capacity",
    message: `${action}: Clusters available replicas ${available} are not enough to schedule.`,
  };
}
