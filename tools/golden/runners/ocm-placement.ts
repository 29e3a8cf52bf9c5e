/** `ocm-placement.jsonl`: the decisions of a Placement, step by step. */
import { createScoreLibrary, PLACEMENT_LABEL } from "@flotilla/ocm";
import type {
  AddOnPlacementScore,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  PlacementDecision,
} from "@flotilla/ocm";
import type { JsonObject } from "@flotilla/base";
import { planPlacement } from "@flotilla/flotilla";
import { compareResults } from "../compare-results.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

const NOW = Date.parse("2024-05-01T12:00:00Z");

const listOf = <T>(input: JsonObject, field: string): T[] => (input[field] ?? []) as unknown as T[];

function run(input: JsonObject): JsonObject {
  const placement = input["placement"] as unknown as OcmPlacement;
  const sets = new Map(listOf<ManagedClusterSet>(input, "clusterSets").map((set) => [set.metadata.name, set]));
  const bound = listOf<ManagedClusterSetBinding>(input, "clusterSetBindings").filter(
    ({ metadata }) => metadata.namespace === placement.metadata.namespace,
  );
  const counts = new Map<string, number>();
  for (const { status } of listOf<PlacementDecision>(input, "existingDecisions").filter(
    (decision) => !isOf(decision, placement),
  ))
    for (const { clusterName } of status?.decisions ?? []) counts.set(clusterName, (counts.get(clusterName) ?? 0) + 1);
  const scores = new Map(
    listOf<AddOnPlacementScore>(input, "addOnPlacementScores").map((score) => [
      `${score.metadata.namespace}/${score.metadata.name}`,
      score,
    ]),
  );

  const { chosen, unscheduled, decisions, groups, conditions, record } = planPlacement(placement, {
    boundSets: new Map(
      bound.flatMap(({ metadata: { name } }): [string, ManagedClusterSet][] => {
        const set = sets.get(name);
        return set ? [[name, set]] : [];
      }),
    ),
    clusters: listOf<ManagedCluster>(input, "clusters"),
    chosen: new Set(decidedBefore(input)),
    decisionsOf: (cluster) => counts.get(cluster) ?? 0,
    mostDecisions: Math.max(0, ...counts.values()),
    scoreObjectOf: (cluster, name) => scores.get(`${cluster}/${name}`),
    library: createScoreLibrary((cluster, name) => scores.get(`${cluster}/${name}`)?.status?.scores),
    nowMs: NOW,
  });
  return {
    eligibleClusterSets: record.eligibleSets,
    availableClusters: record.available,
    filters: record.filters.map(({ clusters }, index) => ({
      name: record.filters
        .slice(0, index + 1)
        .map(({ name }) => name)
        .join(","),
      filteredClusters: clusters.toSorted(),
    })),
    prioritizers: record.prioritizers
      .map(({ name, weight, scores: of }) => ({ name, weight, scores: Object.fromEntries(of) }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    scores: Object.fromEntries(record.scores),
    decisions: chosen,
    unscheduled,
    placementDecisions: decisions.map(({ name, groupName, groupIndex, clusters }) => ({
      name,
      decisionGroupName: groupName,
      decisionGroupIndex: String(groupIndex),
      clusters,
    })),
    decisionGroups: groups as unknown as JsonObject[],
    conditions: conditions.map((condition) => ({ ...condition })).toSorted((a, b) => (a.type < b.type ? -1 : 1)),
  };
}

const isOf = ({ metadata }: PlacementDecision, placement: OcmPlacement): boolean =>
  metadata.namespace === placement.metadata.namespace && metadata.labels?.[PLACEMENT_LABEL] === placement.metadata.name;

const decidedBefore = (input: JsonObject): string[] =>
  listOf<PlacementDecision>(input, "existingDecisions")
    .filter((decision) => isOf(decision, input["placement"] as unknown as OcmPlacement))
    .flatMap(({ status }) => (status?.decisions ?? []).map(({ clusterName }) => clusterName));

const KEPT =
  "A misconfigured Placement keeps its previously decided clusters. OCM empties its decisions, or deletes them.";

function reasonFor({ want = {} }: GoldenCase): string | undefined {
  return listOf<{ type: string; status: string }>(want, "conditions").some(
    ({ type, status }) => type === "PlacementMisconfigured" && status === "True",
  )
    ? KEPT
    : undefined;
}

export const ocmPlacement: CaseRunner = { ...compareResults({ run }), reasonFor };
