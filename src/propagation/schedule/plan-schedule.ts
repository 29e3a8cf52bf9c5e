/**
 * Decides where a binding's resource goes: which clusters fit, why the others do not, and how many replicas each gets. Pure
 * and deterministic over one frozen view; every cluster's verdict is kept, for users and for `flotilla why`.
 *
 * Knows no capacity: divisions that need it (dynamic weight, Aggregated) and spread constraints are answered with an error
 * that says so. Admission refuses them; a binding that was stored by something else may still hold them.
 */
import { equalJson, isObject, type DeepReadonly } from "../../base/index.ts";
import type { ClusterAffinity } from "../cluster-affinity.ts";
import { APPLIED_PLACEMENT } from "../well-known.ts";
import { assignReplicas, isFresh, isWorkload, strategyOf, type AssignedCluster } from "./assign.ts";
import { createView, fits, rejects, type BindingSpecView, type BindingStatusView, type ClusterView, type Placement, type SchedulingView, type Verdict } from "./framework.ts";
import { filterPlugins } from "./plugins/index.ts";

export interface ScheduleInput {
  readonly binding: DeepReadonly<{
    metadata: { annotations?: Record<string, string> };
    spec: BindingSpecView;
    status?: BindingStatusView;
  }>;
  readonly clusters: readonly ClusterView[];
  /** Keeps clusters that got no replicas in the result, with 0. */
  readonly enableEmptyWorkloadPropagation?: boolean;
}

/** What one cluster was told. */
export interface ClusterVerdict {
  readonly cluster: string;
  readonly verdict: Verdict;
  /** The plugin that rejected it. */
  readonly plugin?: string;
}

export type SchedulePlan =
  | { readonly outcome: "scheduled"; readonly clusters: AssignedCluster[]; readonly verdicts: ClusterVerdict[]; /** The term of `clusterAffinities` that it follows. */ readonly affinityName?: string }
  /** Nothing that scheduling depends on has changed: the clusters stay. */
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "unschedulable"; readonly reason: UnschedulableReason; readonly message: string; readonly verdicts: ClusterVerdict[] };

/** Reasons of the condition `Scheduled`. */
export type UnschedulableReason = "NoClusterFit" | "Unschedulable" | "SchedulerError";

export function planSchedule(input: ScheduleInput): SchedulePlan {
  const { binding, clusters } = input;
  const unsupported = unsupportedPart(binding.spec);
  if (unsupported) return { outcome: "unschedulable", reason: "SchedulerError", message: unsupported, verdicts: [] };
  if (!needsScheduling(binding, clusters)) return { outcome: "unchanged" };

  const terms = affinityTerms(binding);
  let first: SchedulePlan | undefined;
  for (const term of terms) {
    const plan = scheduleTerm(input, term);
    if (plan.outcome === "scheduled") return plan;
    first ??= plan;
  }
  return first ?? { outcome: "unchanged" };
}

/** In words, what of the placement cannot be honoured yet. */
function unsupportedPart({ placement, ...spec }: BindingSpecView): string | undefined {
  const strategy = strategyOf(placement);
  const divides = isWorkload(spec);
  if (divides && (strategy === "DynamicWeight" || strategy === "Aggregated")) return "Flotilla does not support dividing replicas by available capacity (dynamicWeight, Aggregated) yet";
  // Static weights name their clusters and do not look at spread constraints.
  if (placement?.spreadConstraints?.length && strategy !== "StaticWeight") return "Flotilla does not support spreadConstraints yet";
  return undefined;
}

/** The ladder of reasons to schedule again, cheapest last: what is not among them leaves a running workload where it is. */
function needsScheduling({ metadata, spec, status }: ScheduleInput["binding"], clusters: readonly ClusterView[]): boolean {
  if (hasPlacementChanged(metadata.annotations?.[APPLIED_PLACEMENT], spec.placement, status)) return true;
  if (hasReplicasChanged(spec) || isFresh(spec, status)) return true;
  if (!isWorkload(spec) || strategyOf(spec.placement) === "Duplicated") return true;
  const targets = new Set(spec.clusters?.map(({ name }) => name));
  return clusters.some(({ metadata }) => metadata.deletionTimestamp && targets.has(metadata.name));
}

function hasPlacementChanged(applied: string | undefined, placement: Placement | undefined, status: BindingStatusView | undefined): boolean {
  const before = applied === undefined ? undefined : parsePlacement(applied);
  if (!before) return true;
  const now: Placement = placement ?? {};
  if (!before.clusterAffinities || !now.clusterAffinities) return !equalJson(before, now);
  // With terms only the one in use counts: changing a term further down must not move what runs.
  const observing = status?.schedulerObservingAffinityName;
  const inUse = ({ clusterAffinities, ...rest }: Placement): Placement => ({ ...rest, clusterAffinities: clusterAffinities?.filter(({ affinityName }) => affinityName === observing) ?? [] });
  return !equalJson(inUse(before), inUse(now));
}

/** Undefined when the annotation was damaged, which counts as a change. */
function parsePlacement(text: string): Placement | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function hasReplicasChanged(spec: BindingSpecView): boolean {
  const { clusters = [], replicas = 0 } = spec;
  if (clusters.length === 0) return true;
  if (!isWorkload(spec)) return false;
  if (strategyOf(spec.placement) === "Duplicated") return clusters.some((cluster) => (cluster.replicas ?? 0) !== replicas);
  return clusters.reduce((sum, cluster) => sum + (cluster.replicas ?? 0), 0) !== replicas;
}

interface Term {
  readonly affinity: ClusterAffinity | undefined;
  readonly name?: string;
}

/** The affinities to try in order: from the observed term on, and from the first again when a rebalance was asked for. */
function affinityTerms({ spec, status }: ScheduleInput["binding"]): Term[] {
  const { clusterAffinity, clusterAffinities } = spec.placement ?? {};
  if (clusterAffinity || !clusterAffinities?.length) return [{ affinity: clusterAffinity }];
  const observed = isFresh(spec, status) ? 0 : clusterAffinities.findIndex(({ affinityName }) => affinityName === status?.schedulerObservingAffinityName);
  return clusterAffinities.slice(Math.max(0, observed)).map((term) => ({ affinity: term, name: term.affinityName }));
}

function scheduleTerm({ binding, clusters, enableEmptyWorkloadPropagation = false }: ScheduleInput, { affinity, name }: Term): SchedulePlan {
  const { spec, status } = binding;
  const view = createView(spec, affinity);
  const verdicts = clusters.map((cluster) => judge(view, cluster));
  const fitting = clusters.filter((_, index) => verdicts[index]?.verdict.fits).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  if (fitting.length === 0) return { outcome: "unschedulable", reason: "NoClusterFit", message: renderFitError(verdicts), verdicts };

  const replicas = spec.replicas ?? 0;
  const candidates = fitting.map((cluster) => ({ cluster, allocatableReplicas: replicas, availableReplicas: replicas, overflowOrder: 0 }));
  const assignment = assignReplicas({ candidates, spec, ...(status && { status }), enableEmptyWorkloadPropagation });
  if (assignment.ok) return { outcome: "scheduled", clusters: assignment.clusters, verdicts, ...(name !== undefined && { affinityName: name }) };
  const reason = assignment.cause === "capacity" ? "Unschedulable" : "SchedulerError";
  return { outcome: "unschedulable", reason, message: `failed to assign replicas: ${assignment.message}`, verdicts };
}

const TERMINATING = rejects("cluster is being removed");

/** The first plugin that rejects gives the reason. */
function judge(view: SchedulingView, cluster: ClusterView): ClusterVerdict {
  const { name, deletionTimestamp } = cluster.metadata;
  if (deletionTimestamp) return { cluster: name, verdict: TERMINATING };
  for (const plugin of filterPlugins) {
    const verdict = plugin.filter(view, cluster);
    if (!verdict.fits) return { cluster: name, verdict, plugin: plugin.name };
  }
  return { cluster: name, verdict: fits };
}

/** As Karmada words it: reasons with their counts, sorted. Clusters that are being removed count, but give no reason. */
function renderFitError(verdicts: readonly ClusterVerdict[]): string {
  const counts = new Map<string, number>();
  for (const { verdict, plugin } of verdicts) {
    if (!verdict.fits && plugin) counts.set(verdict.reason, (counts.get(verdict.reason) ?? 0) + 1);
  }
  const reasons = Array.from(counts, ([reason, count]) => `${count} ${reason}`).sort();
  return `0/${verdicts.length} clusters are available: ${reasons.length > 0 ? reasons.join(", ") : "no cluster exists"}.`;
}
