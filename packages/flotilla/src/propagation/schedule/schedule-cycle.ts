/**
 * One scheduling cycle over one affinity: filter, score, estimate, select, divide. Pure and deterministic; every
 * cluster's verdict is kept for users and for `flotilla why`.
 *
 * Cost: one pass over the clusters, and a sort of the fitting ones where their order matters.
 */
import { estimateReplicas, estimateSets, MOST_REPLICAS, readComponentSet, readRequest } from "../estimate/index.ts";
import { assignReplicas, strategyOf, type AssignedCluster, type Candidate } from "./assign.ts";
import { byPreference, type ClusterVerdict, type ScoredCandidate } from "./candidate.ts";
import type { CycleMeter, CycleStep } from "../meter.ts";
import { PluginTimes, TimedCluster } from "./cycle-meter.ts";
import type { Fleet } from "./fleet-view.ts";
import type { FleetCluster } from "./fleet-cluster.ts";
import {
  createView,
  type BindingSpecView,
  type BindingStatusView,
  type CycleAffinity,
  type FilterPlugin,
  type SchedulingView,
} from "./framework.ts";
import { filterPlugins, groupPlugins, scorePlugins } from "./plugins/index.ts";
import { selectClusters } from "./select-clusters.ts";
import type { Neighbours } from "./workload-groups.ts";

export interface ScheduleOptions {
  /** Keeps clusters that got no replicas in the result, with 0. */
  readonly enableEmptyWorkloadPropagation?: boolean;
  /** A multi-component workload on one cluster is placed where all components fit. */
  readonly multiplePodTemplatesScheduling?: boolean;
}

export interface CycleInput extends ScheduleOptions {
  readonly spec: BindingSpecView;
  readonly status?: BindingStatusView | undefined;
  readonly affinity: CycleAffinity | undefined;
  readonly fleet: Fleet;
  readonly neighbours?: Neighbours | undefined;
  readonly nowMs?: number | undefined;
  /** As for division. */
  readonly tieBreaker?: string;
  readonly named?: readonly string[];
  readonly meter?: CycleMeter | undefined;
}

/** Reasons of the condition `Scheduled`. */
export type UnschedulableReason = "NoClusterFit" | "Unschedulable" | "SchedulerError" | "QuotaExceeded";

export type CycleResult =
  | { readonly ok: true; readonly clusters: AssignedCluster[]; readonly verdicts: ClusterVerdict[] }
  | {
      readonly ok: false;
      readonly reason: UnschedulableReason;
      readonly message: string;
      readonly verdicts: ClusterVerdict[];
    };

export function scheduleCycle(input: CycleInput): CycleResult {
  const { spec, affinity, fleet } = input;
  const view = createView(spec, affinity, input.nowMs, input.neighbours);
  const verdicts: ClusterVerdict[] = [];
  const lap = stopwatch(input.meter);
  const fitting = findFitting(view, fleet.clusters, verdicts, input.meter);
  lap("Filter");
  const candidates = scoreAll(view, fitting, createEstimate(input), input.meter);
  lap("Score");
  if (candidates.length === 0)
    return { ok: false, reason: "NoClusterFit", message: renderFitError(verdicts), verdicts };

  const selection = selectClusters(candidates, view.placement, isOneSet(input) ? 1 : (spec.replicas ?? 0));
  if (!selection.ok)
    return {
      ok: false,
      reason: "SchedulerError",
      message: `failed to select clusters: ${selection.message}${selection.detail === undefined ? "" : ` (${selection.detail})`}`,
      verdicts,
    };

  lap("Select");
  const assignment = assignReplicas({
    ...input,
    candidates: inOrder(selection.candidates, view),
    status: { ...input.status, schedulerObservingAffinityName: affinity?.name ?? "" },
  });
  lap("AssignReplicas");
  if (!assignment.ok) {
    const reason = assignment.cause === "capacity" ? "Unschedulable" : "SchedulerError";
    return { ok: false, reason, message: `failed to assign replicas: ${assignment.message}`, verdicts };
  }
  const clusters = assignment.clusters.sort((a, b) => (a.name < b.name ? -1 : 1));
  noteShares(candidates, selection.candidates, clusters);
  return { ok: true, clusters, verdicts };
}

/** Reports the duration of each step to a meter, from the end of the previous one. */
function stopwatch(meter: CycleMeter | undefined): (step: CycleStep) => void {
  if (!meter) return () => {};
  let beforeMs = meter.nowMs();
  return (step) => {
    const nowMs = meter.nowMs();
    meter.step(step, nowMs - beforeMs);
    beforeMs = nowMs;
  };
}

interface Fitting {
  readonly cluster: FleetCluster;
  readonly verdict: ClusterVerdict;
}

/**
 * Clusters that pass every filter, sorted by name. Every cluster gets a verdict; the first plugin that rejects it
 * provides the reason.
 */
function findFitting(
  view: SchedulingView,
  fleet: readonly FleetCluster[],
  verdicts: ClusterVerdict[],
  meter: CycleMeter | undefined,
): Fitting[] {
  const fitting: Fitting[] = [];
  const plugins = view.neighbours ? groupPlugins : filterPlugins;
  const timed = new TimedCluster(meter);
  for (const cluster of fleet) {
    const times = timed.next();
    const verdict = judge(view, cluster, plugins, times);
    verdicts.push(verdict);
    if (verdict.reason === undefined) fitting.push({ cluster, verdict });
    if (times) timed.ran(times, verdict.reason === undefined);
  }
  timed.report("Filter");
  return fitting;
}

function scoreAll(
  view: SchedulingView,
  fitting: readonly Fitting[],
  estimate: Estimate | undefined,
  meter: CycleMeter | undefined,
): ScoredCandidate[] {
  return fitting.map(({ cluster, verdict }, index) => {
    const times = meter && index === 0 ? new PluginTimes(meter) : undefined;
    return candidateOf(view, cluster, estimate, { verdict, score: scoreOf(view, cluster, times) });
  });
}

function judge(
  view: SchedulingView,
  cluster: FleetCluster,
  plugins: readonly FilterPlugin[],
  times: PluginTimes | undefined,
): ClusterVerdict {
  const { name, leaving } = cluster;
  if (leaving) return { cluster: name, reason: "cluster is being removed" };
  for (const plugin of plugins) {
    const verdict = plugin.filter(view, cluster);
    times?.ran(plugin.name, verdict.fits);
    if (!verdict.fits) return { cluster: name, rejectedBy: plugin.name, reason: verdict.reason };
  }
  return { cluster: name };
}

/** How many additional replicas fit a cluster. */
type Estimate = (cluster: FleetCluster) => number;

/** Undefined where capacity does not matter: every cluster gets all replicas, or its share by static weights. */
function createEstimate(input: CycleInput): Estimate | undefined {
  const { replicas = 0, components = [], placement = {}, replicaRequirements } = input.spec;
  const strategy = strategyOf(placement);
  const divides = strategy === "DynamicWeight" || strategy === "Aggregated";
  if (!divides && !placement.spreadConstraints?.length && !input.affinity?.overflow.length) return undefined;
  if (replicas === 0 && components.length === 0) return () => MOST_REPLICAS;
  if (isOneSet(input)) {
    const set = readComponentSet(components);
    return ({ capacity }) => estimateSets(capacity, set);
  }
  const request = readRequest(replicaRequirements);
  return ({ capacity }) => {
    const room = estimateReplicas(capacity, request);
    // A member without limit counts as having room for all, so that sums stay small.
    return room === MOST_REPLICAS ? replicas : room;
  };
}

/** Whether the components are placed together as one set, which must fit on one cluster. */
function isOneSet({ spec, multiplePodTemplatesScheduling = false }: CycleInput): boolean {
  if (!multiplePodTemplatesScheduling || !spec.components?.length) return false;
  return Boolean(
    spec.placement?.spreadConstraints?.some(
      ({ spreadByField, minGroups, maxGroups }) => spreadByField === "cluster" && minGroups === 1 && maxGroups === 1,
    ),
  );
}

function scoreOf(view: SchedulingView, cluster: FleetCluster, times: PluginTimes | undefined): number {
  let sum = 0;
  for (const plugin of scorePlugins) {
    sum += plugin.score(view, cluster);
    times?.ran(plugin.name, true);
  }
  times?.report("Score");
  return sum;
}

function candidateOf(
  view: SchedulingView,
  cluster: FleetCluster,
  estimate: Estimate | undefined,
  { verdict, score }: { verdict: ClusterVerdict; score: number },
): ScoredCandidate {
  verdict.score = score;
  const room = estimate ? estimate(cluster) : 0;
  const available = room + (view.targets.get(cluster.name) ?? 0);
  if (estimate) verdict.available = available;
  return {
    cluster,
    score,
    overflowOrder: view.tierOf(cluster) ?? 0,
    allocatableReplicas: room,
    availableReplicas: available,
    verdict,
  };
}

/** Aggregated takes clusters of equal size in order of preference; for other strategies order has no meaning. */
function inOrder(selected: readonly ScoredCandidate[], { placement }: SchedulingView): readonly Candidate[] {
  return strategyOf(placement) === "Aggregated" && !placement.spreadConstraints?.length
    ? selected.toSorted(byPreference)
    : selected;
}

/** In Karmada's format: reasons with their counts, sorted. Clusters that are being removed count, but add no reason. */
export function renderFitError(verdicts: readonly ClusterVerdict[]): string {
  const counts = new Map<string, number>();
  for (const { reason, rejectedBy } of verdicts)
    if (reason !== undefined && rejectedBy) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = Array.from(counts, ([reason, count]) => `${count} ${reason}`).sort();
  return `0/${verdicts.length} clusters are available: ${reasons.length > 0 ? reasons.join(", ") : "no cluster exists"}.`;
}

/** Completes the verdicts of clusters that passed the filters: their share, or why they have none. */
function noteShares(
  candidates: readonly ScoredCandidate[],
  selected: readonly ScoredCandidate[],
  clusters: readonly AssignedCluster[],
): void {
  const chosen = selected.length === candidates.length ? undefined : new Set(selected);
  const shares = new Map(clusters.map(({ name, replicas }) => [name, replicas]));
  for (const candidate of candidates) {
    const { verdict } = candidate;
    if (shares.has(verdict.cluster)) {
      const replicas = shares.get(verdict.cluster);
      if (replicas !== undefined) verdict.replicas = replicas;
    } else if (chosen && !chosen.has(candidate)) {
      verdict.rejectedBy = "SpreadConstraint";
      verdict.reason = "the spread constraints are satisfied by other clusters";
    } else {
      verdict.rejectedBy = "Division";
      verdict.reason = "no replicas were left for this cluster";
    }
  }
}
