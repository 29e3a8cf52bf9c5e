/**
 * Explains why a Placement selects its clusters. Runs the planner again against the hub's current state; the planner
 * does not report why a filter excluded a cluster, so the parts of the filter are tried one by one. Pure.
 *
 * Clusters of sets that are not bound to the namespace are counted but not named: the author of a Placement need not
 * have access to them.
 */
import { SCHEDULING_DISABLED_ANNOTATION } from "@flotilla/ocm";
import type { ClusterSelector } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import type { ManagedCluster, OcmPlacement } from "@flotilla/ocm";
import { formatTime, type DeepReadonly } from "@flotilla/base";
import { findCondition, formatLabelSelector, type Condition, type LabelSelectorObject } from "@flotilla/apimachinery";
import { clusterTest } from "../../ocm/placement/cluster-selector.ts";
import { planPlacement } from "../../ocm/placement/plan-placement.ts";
import { toleratedUntil } from "../../ocm/placement/tolerations.ts";
import type { PlacementInput, PlacementPlan } from "../../ocm/placement/plan-placement.ts";
import { summariseDecision } from "../../propagation/schedule/summarise-decision.ts";
import type { Explanation, ExplainedPrioritizer, Problem } from "../explanation.ts";

type Placement = DeepReadonly<OcmPlacement>;
type Managed = DeepReadonly<ManagedCluster>;
type Verdict = { cluster: string; rejectedBy?: string; reason?: string; score?: number };
export type PlacementExplanation = Required<Pick<Explanation, "decision" | "prioritizers" | "problems">>;

/** Scores beyond this number are left out; the best-ranked clusters are kept. */
const MAX_SCORED = 100;

export function explainPlacement(placement: Placement, input: PlacementInput): PlacementExplanation {
  const plan = planPlacement(placement, input);
  const clusters = new Map([...input.clusters].map((cluster) => [cluster.metadata.name, cluster]));
  const judge = createJudge(placement, plan, input);
  const verdicts = plan.record.available.flatMap((name) => {
    const cluster = clusters.get(name);
    return cluster ? [judge(cluster)] : [];
  });
  const { kept, rejected } = summariseDecision({ outcome: "scheduled", clusters: [], failedTerms: [], verdicts }) ?? {
    kept: [],
    rejected: [],
  };
  const outside = clusters.size - plan.record.available.length;
  const sets = plan.record.eligibleSets;
  return {
    decision: {
      source: "recomputed",
      at: formatTime(input.nowMs),
      kept,
      rejected:
        outside > 0
          ? [
              ...rejected,
              {
                by: "ManagedClusterSet",
                reason:
                  sets.length === 0
                    ? "no ManagedClusterSet is bound to the namespace"
                    : `not in ${sets.join(", ")}, or being deleted`,
                count: outside,
                clusters: [],
              },
            ]
          : rejected,
    },
    prioritizers: prioritizersOf(plan),
    problems: findProblems(placement, plan, input),
  };
}

function createJudge(
  { spec }: Placement,
  plan: PlacementPlan,
  { chosen: before, library, nowMs }: PlacementInput,
): (cluster: Managed) => Verdict {
  const { scores } = plan.record;
  const chosen = new Set(plan.chosen);
  const filters = plan.record.filters.map(({ name, clusters }) => ({ name, left: new Set(clusters) }));
  const missedBy = plan.isKept ? () => "" : createPredicateTest(spec.predicates ?? [], library);
  const lowest = Math.min(...plan.chosen.map((name) => scores.get(name) ?? 0));
  return (cluster) => {
    const { name } = cluster.metadata;
    const score = scores.get(name);
    if (chosen.has(name)) return { cluster: name, score };
    const rejected = (rejectedBy: string, reason: string): Verdict => ({ cluster: name, rejectedBy, reason });
    if (plan.isKept)
      return rejected("Misconfigured", "the Placement is misconfigured, and did not select the cluster before");
    const filter = filters.find(({ left }) => !left.has(name))?.name;
    if (filter === "Predicate") return rejected(filter, missedBy(cluster));
    if (filter === "TaintToleration")
      return rejected(filter, taintOf(cluster, spec.tolerations ?? [], before.has(name), nowMs));
    if (plan.unscheduled > 0 || (score ?? 0) > lowest)
      return rejected("SpreadPolicy", "a spread constraint excludes it");
    return rejected(
      "NumberOfClusters",
      `only ${spec.numberOfClusters} clusters are requested and others rank higher: its score is ${score ?? 0}, the lowest chosen score is ${lowest}`,
    );
  };
}

type Predicates = readonly { readonly requiredClusterSelector?: DeepReadonly<ClusterSelector> }[];
type Part = { text: string; selector: DeepReadonly<ClusterSelector> };

/** Returns the first unmet requirement of each predicate; predicates are alternatives. */
function createPredicateTest(predicates: Predicates, library: PlacementInput["library"]): (cluster: Managed) => string {
  const parts = predicates.map(({ requiredClusterSelector = {} }) =>
    partsOf(requiredClusterSelector).map(({ text, selector }) => ({
      text,
      matches: clusterTest("Predicate", selector, library),
    })),
  );
  return (cluster) => {
    const missed = parts.flatMap((predicate) => predicate.find(({ matches }) => !matches(cluster))?.text ?? []);
    return [...new Set(missed)].map((text) => `it is not ${text}`).join(", and ");
  };
}

/** The parts of a selector, each with a readable description. */
function partsOf({ labelSelector, claimSelector, celSelector }: DeepReadonly<ClusterSelector>): Part[] {
  return [
    ...requirementsOf(labelSelector).map((one): Part => ({
      text: `labelled ${formatLabelSelector(one)}`,
      selector: { labelSelector: one } as Part["selector"],
    })),
    ...requirementsOf(claimSelector).map((one): Part => ({
      text: `claiming ${formatLabelSelector(one)}`,
      selector: { claimSelector: one } as Part["selector"],
    })),
    ...(celSelector?.celExpressions ?? []).map((expression): Part => ({
      text: `one for which ${expression} holds`,
      selector: { celSelector: { celExpressions: [expression] } },
    })),
  ];
}

function requirementsOf({
  matchLabels = {},
  matchExpressions = [],
}: DeepReadonly<LabelSelectorObject> = {}): LabelSelectorObject[] {
  const labels = Object.entries(matchLabels).map((label) => ({ matchLabels: Object.fromEntries([label]) }));
  return [...labels, ...matchExpressions.map((one) => ({ matchExpressions: [one] }))];
}

function taintOf(
  cluster: Managed,
  tolerations: NonNullable<Placement["spec"]["tolerations"]>,
  isChosen: boolean,
  nowMs: number,
): string {
  const taint = (cluster.spec.taints ?? []).find(
    (one) =>
      toleratedUntil({ ...cluster, spec: { ...cluster.spec, taints: [one] } }, tolerations, isChosen, nowMs) ===
      undefined,
  );
  return taint
    ? `its taint ${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect} is not tolerated`
    : "its taints are not tolerated";
}

function prioritizersOf({ record }: PlacementPlan): ExplainedPrioritizer[] {
  const first = [...record.scores]
    .toSorted(([a, scoreA], [b, scoreB]) => scoreB - scoreA || (a < b ? -1 : 1))
    .slice(0, MAX_SCORED)
    .map(([cluster]) => cluster);
  return record.prioritizers.map(({ name, weight, scores }) => ({
    name,
    weight,
    scores: Object.fromEntries(
      first.flatMap((cluster) => (scores.has(cluster) ? [[cluster, scores.get(cluster) ?? 0]] : [])),
    ),
  }));
}

/** What to do about a Placement that is misconfigured or has fewer clusters than requested, by its conditions. */
export function fixForPlacement(conditions: readonly DeepReadonly<Condition>[] | undefined): string | undefined {
  if (findCondition(conditions, "PlacementMisconfigured")?.status === "True") return CORRECT_SPEC;
  const { status, reason = "" } = findCondition(conditions, "PlacementSatisfied") ?? {};
  return status === "False" ? (SUGGESTED_FIXES[reason] ?? COMPARE_SPEC) : undefined;
}

const CORRECT_SPEC = "correct its spec";
const COMPARE_SPEC = "compare its spec with the clusters";
/** When a Placement has fewer clusters than requested, by condition reason. */
const SUGGESTED_FIXES: Readonly<Record<string, string>> = {
  NoManagedClusterSetBindings:
    "create a ManagedClusterSetBinding in the namespace, named after the set, so that its clusters can be selected",
  NoIntersection: "list a set that is bound to the namespace in spec.clusterSets, or bind the set",
  AllManagedClusterSetsEmpty: "add clusters to the set with the label cluster.open-cluster-management.io/clusterset",
  NoManagedClusterMatched:
    "compare spec.predicates with the labels and claims of the clusters, and spec.tolerations with their taints",
  NotAllDecisionsScheduled: "request fewer clusters, or let more of them match",
};

function findProblems({ metadata, spec }: Placement, plan: PlacementPlan, { chosen }: PlacementInput): Problem[] {
  const problems: Problem[] = [];
  for (const { type, status, reason = "", message = "" } of plan.conditions) {
    if (type === "PlacementMisconfigured" && status === "True")
      problems.push({
        what: `it is misconfigured: ${message}; its current clusters are kept`,
        try: CORRECT_SPEC,
      });
    else if (type === "PlacementSatisfied" && status === "False" && !plan.isKept)
      problems.push({ what: message, try: SUGGESTED_FIXES[reason] ?? COMPARE_SPEC });
  }
  if (plan.warning !== undefined)
    problems.push({
      what: plan.warning,
      try: "check why the add-on no longer writes scores; missing scores count as 0",
    });
  if (metadata.annotations?.[SCHEDULING_DISABLED_ANNOTATION] === "true")
    problems.push({
      what: "scheduling is disabled: its decisions are kept unchanged",
      try: `remove the annotation ${SCHEDULING_DISABLED_ANNOTATION}`,
    });
  else if (
    spec.numberOfClusters !== undefined &&
    plan.chosen.length === chosen.size &&
    plan.chosen.some((cluster) => !chosen.has(cluster))
  )
    problems.push({
      what: `its decisions currently list other clusters: ${[...chosen].toSorted().join(", ")}`,
      try: "nothing: the decisions are updated when one of its clusters changes",
    });
  return problems;
}
