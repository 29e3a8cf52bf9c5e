/**
 * The decision of a Placement: candidates, filters, scores, choice, groups, conditions, in this order. Pure.
 *
 * A misconfigured Placement keeps its previous decision, except clusters it may no longer choose. OCM empties the
 * decision, so that a typo removes workloads.
 */
import type { DecisionGroupStatus } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import type { ManagedCluster, ManagedClusterSet, OcmPlacement } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import type { NextCondition } from "@flotilla/apimachinery";
import { availableClusters, eligibleSets } from "./candidates.ts";
import { clusterTest, type ScoreLibrary } from "./cluster-selector.ts";
import { keepDecided, planGroups, type PlannedDecision } from "./decision-groups.ts";
import { Misconfigured } from "./misconfigured.ts";
import type { PlacementMeter } from "./meter.ts";
import { prioritizersOf, scoreExpiry, type ScoreSources } from "./prioritizers.ts";
import { chooseSpread } from "./spread.ts";
import { checkTolerations, toleratedUntil } from "./tolerations.ts";

type Cluster = DeepReadonly<ManagedCluster>;
type Placement = DeepReadonly<OcmPlacement>;

export interface PlacementInput extends ScoreSources {
  /** The existing sets that the namespace is bound to, by name. */
  boundSets: ReadonlyMap<string, DeepReadonly<ManagedClusterSet>>;
  clusters: Iterable<Cluster>;
  /** Provides `scores()` to expressions. */
  library?: ScoreLibrary;
  meter?: PlacementMeter;
}

/** The intermediate results, for explanations. */
interface PlacementRecord {
  eligibleSets: string[];
  available: string[];
  /** The clusters left after each filter. */
  filters: { name: string; clusters: string[] }[];
  prioritizers: { name: string; weight: number; scores: ReadonlyMap<string, number> }[];
  scores: ReadonlyMap<string, number>;
}

export interface PlacementPlan {
  /** In order of preference. */
  chosen: string[];
  unscheduled: number;
  decisions: PlannedDecision[];
  groups: DecisionGroupStatus[];
  conditions: NextCondition[];
  /** Misconfigured: existing decisions keep their groups, and only lose clusters that are no longer chosen. */
  isKept?: true;
  /** Reported as a warning; the decisions are valid. */
  warning?: string;
  /** When a toleration of a chosen cluster or a score in use expires. */
  recheckMs?: number;
  record: PlacementRecord;
}

export function planPlacement(placement: Placement, input: PlacementInput): PlacementPlan {
  const { metadata, spec } = placement;
  const sets = eligibleSets(placement, input.boundSets.keys());
  const available = availableClusters(
    sets.flatMap((name) => input.boundSets.get(name) ?? []),
    input.clusters,
  );
  const record: PlacementRecord = {
    eligibleSets: sets,
    available: available.map(nameOf),
    filters: [],
    prioritizers: [],
    scores: new Map(),
  };
  const counts = { bound: input.boundSets.size, eligible: sets, available: available.length };
  try {
    const fitting = filter(placement, available, input, record);
    const ordered = order(placement, fitting, input, record);
    const chosen = chooseSpread(ordered, spec.numberOfClusters ?? ordered.length, spec.spreadPolicy?.spreadConstraints);
    const unscheduled = spec.numberOfClusters === undefined ? 0 : spec.numberOfClusters - chosen.length;
    const { decisions, status } = planGroups(
      metadata.name,
      spec.decisionStrategy,
      chosen,
      isByScore(placement) ? bestFirst(record.scores) : undefined,
    );
    const { warning, nextMs } = scoreExpiry(spec.prioritizerPolicy, fitting, input);
    const recheckMs = Math.min(nextMs, firstEnd(placement, chosen, input));
    return {
      chosen: chosen.map(nameOf),
      unscheduled,
      decisions,
      groups: status,
      conditions: [wellConfigured, satisfied(placement, { ...counts, chosen: chosen.length, unscheduled })],
      warning,
      recheckMs: Number.isFinite(recheckMs) ? recheckMs : undefined,
      record,
    };
  } catch (error) {
    if (!(error instanceof Misconfigured)) throw error;
    const kept = record.available.filter((cluster) => input.chosen.has(cluster));
    const { decisions, status } = keepDecided(metadata.name, kept);
    const condition = kept.length > 0 ? keptCondition : satisfied(placement, { ...counts, chosen: 0, unscheduled: 0 });
    return {
      chosen: kept,
      unscheduled: 0,
      decisions,
      groups: status,
      conditions: [misconfigured(error), condition],
      isKept: true,
      record,
    };
  }
}

const nameOf = ({ metadata }: Cluster): string => metadata.name;

function filter(
  { spec }: Placement,
  available: readonly Cluster[],
  { chosen, library, nowMs, meter }: PlacementInput,
  record: PlacementRecord,
): readonly Cluster[] {
  // As in OCM, a Placement without candidates is not validated.
  if (available.length === 0) {
    record.filters = [
      { name: "Predicate", clusters: [] },
      { name: "TaintToleration", clusters: [] },
    ];
    return available;
  }
  const startMs = meter?.nowMs() ?? 0;
  const predicates = (spec.predicates ?? []).map(({ requiredClusterSelector = {} }) =>
    clusterTest("Predicate", requiredClusterSelector, library),
  );
  const selected =
    predicates.length === 0 ? available : available.filter((cluster) => predicates.some((matches) => matches(cluster)));
  record.filters.push({ name: "Predicate", clusters: selected.map(nameOf) });
  const selectedMs = meter?.nowMs() ?? 0;
  meter?.plugin("filter", "Predicate", selectedMs - startMs);
  if (spec.predicates?.some(({ requiredClusterSelector }) => requiredClusterSelector?.celSelector))
    meter?.expressions(selectedMs - startMs);

  const { tolerations = [] } = spec;
  if (selected.length > 0) checkTolerations(tolerations);
  const tolerated = selected.filter(
    (cluster) => toleratedUntil(cluster, tolerations, chosen.has(nameOf(cluster)), nowMs) !== undefined,
  );
  record.filters.push({ name: "TaintToleration", clusters: tolerated.map(nameOf) });
  meter?.plugin("filter", "TaintToleration", meter.nowMs() - selectedMs);
  return tolerated;
}

/** Best first; ties by name. */
function order(
  { spec }: Placement,
  clusters: readonly Cluster[],
  { meter, ...sources }: PlacementInput,
  record: PlacementRecord,
): Cluster[] {
  const total = new Map(clusters.map((cluster) => [nameOf(cluster), 0]));
  for (const { name, weight, score } of prioritizersOf(spec.prioritizerPolicy)) {
    const startMs = meter?.nowMs() ?? 0;
    const scores = score(clusters, sources);
    meter?.plugin("prioritizer", name, meter.nowMs() - startMs);
    record.prioritizers.push({ name, weight, scores });
    for (const [cluster, value] of scores) total.set(cluster, (total.get(cluster) ?? 0) + value * weight);
  }
  record.scores = total;
  const inOrder = bestFirst(total);
  return clusters.toSorted((a, b) => inOrder(nameOf(a), nameOf(b)));
}

/** Whether decisions list clusters by score and include the scores. OCM declares the field but orders by name. */
export const isByScore = ({ spec }: Placement): boolean => spec.sortBy === "Score";

const bestFirst =
  (scores: ReadonlyMap<string, number>) =>
  (a: string, b: string): number =>
    (scores.get(b) ?? 0) - (scores.get(a) ?? 0) || (a < b ? -1 : 1);

const firstEnd = ({ spec }: Placement, chosen: readonly Cluster[], { nowMs }: PlacementInput): number =>
  Math.min(
    ...chosen.map(
      (cluster) => toleratedUntil(cluster, spec.tolerations ?? [], true, nowMs) ?? Number.POSITIVE_INFINITY,
    ),
  );

const wellConfigured: NextCondition = {
  type: "PlacementMisconfigured",
  status: "False",
  reason: "Succeedconfigured",
  message: "Placement configurations check pass",
};
const misconfigured = ({ part, message }: Misconfigured): NextCondition => ({
  type: "PlacementMisconfigured",
  status: "True",
  reason: "Misconfigured",
  message: `${part}:${message}`,
});
const keptCondition: NextCondition = {
  type: "PlacementSatisfied",
  status: "False",
  reason: "NotAllDecisionsScheduled",
  message: "The placement is misconfigured; the previously decided clusters are kept",
};

interface Counted {
  bound: number;
  eligible: readonly string[];
  available: number;
  chosen: number;
  unscheduled: number;
}

function satisfied({ spec }: Placement, counted: Counted): NextCondition {
  const { bound, eligible, available, chosen, unscheduled } = counted;
  const not = (reason: string, message: string): NextCondition => ({
    type: "PlacementSatisfied",
    status: "False",
    reason,
    message,
  });
  if (bound === 0)
    return not("NoManagedClusterSetBindings", "No valid ManagedClusterSetBindings found in placement namespace");
  if (eligible.length === 0)
    return not(
      "NoIntersection",
      `None of ManagedClusterSets [${(spec.clusterSets ?? []).join(",")}] is bound to placement namespace`,
    );
  if (available === 0)
    return not(
      "AllManagedClusterSetsEmpty",
      `All ManagedClusterSets [${eligible.join(",")}] have no member ManagedCluster`,
    );
  if (chosen === 0) return not("NoManagedClusterMatched", "No ManagedCluster matches any of the cluster predicate");
  if (unscheduled !== 0) return not("NotAllDecisionsScheduled", `${unscheduled} cluster decisions unscheduled`);
  return {
    type: "PlacementSatisfied",
    status: "True",
    reason: "AllDecisionsScheduled",
    message: "All cluster decisions scheduled",
  };
}
