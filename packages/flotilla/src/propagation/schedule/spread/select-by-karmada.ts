/**
 * Karmada's cluster selection for its two kinds of spread constraint, clusters and regions. If it satisfies the whole
 * placement it is used, so that a fleet that migrates from Karmada does not see its workloads move.
 */
import { compareText } from "@flotilla/base";
import { byPreference, sumAvailable, type ScoredCandidate } from "../candidate.ts";
import { groupCandidates, type Dimension } from "./dimensions.ts";
import { selectGroups, type Group } from "./select-groups.ts";

export type Selection =
  | { readonly ok: true; readonly candidates: readonly ScoredCandidate[] }
  | {
      readonly ok: false;
      /** Karmada's words. */
      readonly message: string;
      /** The numbers: what the constraint asks for, and what was found. */
      readonly detail?: string;
    };

/** The requirements of the selection. */
export interface Demand {
  readonly replicas: number;
  /** Every cluster gets all replicas, and room is ignored. */
  readonly duplicated: boolean;
}

/** `candidates` are in order of preference. */
export function selectByCluster(
  candidates: readonly ScoredCandidate[],
  { min, max }: Dimension,
  { replicas, duplicated }: Demand,
): Selection {
  if (candidates.length < min)
    return {
      ok: false,
      message: "the number of feasible clusters is less than spreadConstraint.MinGroups",
      detail: scarcity(
        min,
        candidates.map(({ cluster }) => cluster.name),
      ),
    };
  const count = Math.min(candidates.length, max);
  if (duplicated) return { ok: true, candidates: candidates.slice(0, count) };
  const selected = withRoom(candidates, count, replicas);
  return selected
    ? { ok: true, candidates: selected }
    : {
        ok: false,
        message: `no enough resource when selecting ${count} clusters`,
        detail: `${replicas} required, ${roomOf(candidates, count)} fit on the ${count} with the most room`,
      };
}

/** The groups that are named; a fleet may have hundreds. */
const MAX_GROUPS = 5;

const listGroups = (names: readonly string[]): string =>
  names.length > MAX_GROUPS
    ? `${names.slice(0, MAX_GROUPS).join(", ")} and ${names.length - MAX_GROUPS} more`
    : names.join(", ");

/** `3 required, 2 found: m1, m2`. Sorted, so that scores do not change the condition that it is written to. */
export const scarcity = (required: number, groups: readonly string[]): string =>
  `${required} required, ${groups.length} found${groups.length > 0 ? `: ${listGroups(groups.toSorted(compareText))}` : ""}`;

const roomOf = (candidates: readonly ScoredCandidate[], count: number): number =>
  sumAvailable(candidates.toSorted((a, b) => b.availableReplicas - a.availableReplicas).slice(0, count));

/**
 * The first clusters; from the last one on they are replaced by the one with the most room until all replicas fit. A
 * replaced cluster may return for another, so it is swapped with its replacement.
 */
function withRoom(
  candidates: readonly ScoredCandidate[],
  count: number,
  replicas: number,
): ScoredCandidate[] | undefined {
  const selected = candidates.slice(0, count);
  let room = sumAvailable(selected);
  if (room >= replicas) return selected;
  const others = candidates.slice(count).map((candidate, place): Waiting => ({ candidate, place }));
  others.sort(byRoom);
  for (let index = count - 1; room < replicas && index >= 0; index--) {
    const [current, other] = [selected[index], others[0]];
    if (!current || !other || other.candidate.availableReplicas <= current.availableReplicas) continue;
    selected[index] = other.candidate;
    room += other.candidate.availableReplicas - current.availableReplicas;
    others.shift();
    insert(others, { candidate: current, place: other.place });
  }
  return room >= replicas ? selected : undefined;
}

interface Waiting {
  readonly candidate: ScoredCandidate;
  readonly place: number;
}

const byRoom = (a: Waiting, b: Waiting): number =>
  b.candidate.availableReplicas - a.candidate.availableReplicas || a.place - b.place;

function insert(sorted: Waiting[], item: Waiting): void {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byRoom(sorted[middle] as Waiting, item) < 0) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, item);
}

interface CandidateGroup extends Group {
  readonly candidates: readonly ScoredCandidate[];
}

export function selectByRegion(
  candidates: readonly ScoredCandidate[],
  region: Dimension,
  cluster: Dimension | undefined,
  demand: Demand,
): Selection {
  const byRegion = groupCandidates(region, candidates);
  if (byRegion.size < region.min)
    return {
      ok: false,
      message: "the number of feasible region is less than spreadConstraint.MinGroups",
      detail: scarcity(region.min, [...byRegion.keys()]),
    };
  const wanted = cluster?.min ?? 1;
  const regions = Array.from(byRegion, ([name, members]): CandidateGroup => ({
    name,
    size: members.length,
    weight: weighGroup(members, region.min, wanted, demand),
    candidates: members,
  }));
  const selected = selectGroups(regions, { min: region.min, max: region.max, clusters: wanted });
  if (!selected)
    return {
      ok: false,
      message: "the number of clusters is less than the cluster spreadConstraint.MinGroups",
      detail:
        `${wanted} required${Number.isFinite(region.max) ? ` in at most ${region.max} of region` : ""}; ` +
        `found ${listGroups(regions.map(({ name, size }) => `${name}: ${size}`).toSorted(compareText))}`,
    };

  const firsts = selected.flatMap((group) => group.candidates.slice(0, 1));
  const others = selected.flatMap((group) => group.candidates.slice(1)).sort(byPreference);
  // Without a maximum Karmada takes one cluster of each region; at least the minimum is needed for a usable choice.
  const count = cluster && Number.isFinite(cluster.max) ? cluster.max : wanted;
  return { ok: true, candidates: [...firsts, ...others.slice(0, Math.max(0, count - firsts.length))] };
}

/** Room counts first; scores, at most 100 each, decide between groups with equal room. */
const ROOM = 1000;

/** The share of its demand that a group can take. `members` are in order of preference. */
export function weighGroup(
  members: readonly ScoredCandidate[],
  minGroups: number,
  minClusters: number,
  { replicas, duplicated }: Demand,
): number {
  if (duplicated) {
    const large = members.filter(({ availableReplicas }) => availableReplicas >= replicas);
    return large.length === 0 ? 0 : large.length * ROOM + Math.floor(sumScores(large) / large.length);
  }
  const target = Math.ceil(replicas / minGroups);
  const wanted = Math.max(minClusters, minGroups);
  let [room, score, count] = [0, 0, 0];
  for (const member of members) {
    room += member.availableReplicas;
    score += member.score;
    count++;
    if (count >= wanted && room >= target) break;
  }
  return room < target ? room * ROOM + Math.floor(score / members.length) : target * ROOM + Math.floor(score / count);
}

function sumScores(candidates: readonly ScoredCandidate[]): number {
  return candidates.reduce((sum, { score }) => sum + score, 0);
}
