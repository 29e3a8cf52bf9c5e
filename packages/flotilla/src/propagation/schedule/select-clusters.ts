/**
 * Selects fitting clusters by a placement's spread constraints.
 *
 * Karmada supports constraints on clusters and regions, and ignores room once regions are chosen. Its choice is kept
 * whenever it satisfies the whole placement. Otherwise (zones, providers, labels; regions without room) another
 * selection is searched, and an error is reported only if there is none.
 */
import { ignoresSpread } from "@flotilla/karmada";
import { byPreference, sumAvailable, type ScoredCandidate } from "./candidate.ts";
import type { Placement } from "./framework.ts";
import { countGroups, findViolation, groupCandidates, readSpread, type Dimension } from "./spread/dimensions.ts";
import { searchSelection } from "./spread/search-selection.ts";
import { scarcity, selectByCluster, selectByRegion, type Demand, type Selection } from "./spread/select-by-karmada.ts";

export type { Selection };

/** `replicas`: how many must fit; a multi-component workload counts as one. */
export function selectClusters(
  candidates: readonly ScoredCandidate[],
  placement: Placement,
  replicas: number,
): Selection {
  const constraints = placement.spreadConstraints ?? [];
  if (constraints.length === 0 || ignoresSpread(placement)) return { ok: true, candidates };
  const spread = readSpread(constraints);
  const sorted = candidates.toSorted(byPreference);
  const demand: Demand = { replicas, duplicated: isDuplicated(placement) };

  const first = selectFirst(sorted, spread, demand);
  if (first && !first.ok) return first;
  const violated = first && findViolation(spread.all, first.candidates);
  if (first && !violated && hasRoom(first.candidates, demand)) return first;
  const found = searchSelection(sorted, spread.all, demand);
  if (found) return { ok: true, candidates: found };
  // Conflicts that Karmada ignores, and insufficient room, which division reports with numbers.
  if (first && (!violated || violated === spread.region || violated === spread.cluster)) return first;
  return { ok: false, ...explain(spread.all, sorted, demand) };
}

/** Karmada's choice; undefined where it has none. */
function selectFirst(
  sorted: readonly ScoredCandidate[],
  { region, cluster }: ReturnType<typeof readSpread>,
  demand: Demand,
): Selection | undefined {
  if (region) return selectByRegion(sorted, region, cluster, demand);
  return cluster && selectByCluster(sorted, cluster, demand);
}

function isDuplicated({ replicaScheduling }: Placement): boolean {
  return !replicaScheduling || replicaScheduling.replicaSchedulingType === "Duplicated";
}

const hasRoom = (candidates: readonly ScoredCandidate[], { replicas, duplicated }: Demand): boolean =>
  duplicated || sumAvailable(candidates) >= replicas;

function explain(
  dimensions: readonly Dimension[],
  candidates: readonly ScoredCandidate[],
  { replicas, duplicated }: Demand,
): { message: string; detail?: string } {
  const scarce = dimensions.find((dimension) => countGroups(dimension, candidates) < dimension.min);
  if (scarce)
    return {
      message: `the number of feasible ${scarce.name} is less than spreadConstraint.MinGroups`,
      detail: scarcity(scarce.min, [...groupCandidates(scarce, candidates).keys()]),
    };
  const limits = dimensions
    .map(({ name, min, max }) => `${name} ${min}..${Number.isFinite(max) ? max : ""}`)
    .join(", ");
  return {
    message: `no selection of clusters satisfies all spreadConstraints (${limits})${duplicated ? "" : ` with room for ${replicas} replicas`}`,
    detail: `found ${dimensions.map((dimension) => `${countGroups(dimension, candidates)} of ${dimension.name}`).join(", ")}`,
  };
}
