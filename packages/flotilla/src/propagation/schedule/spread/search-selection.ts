/**
 * Searches clusters that satisfy all kinds of spread constraints at once, and have room.
 *
 * Three steps, repeated with the next best groups on failure: select clusters that add missing groups until every
 * minimum is reached; fill up in order of preference up to the maxima; replace clusters by ones with more room until
 * all replicas fit. Satisfying several kinds at once is a covering problem, so the number of attempts is limited: a
 * placement that only a very specific choice could satisfy may be rejected.
 */
import type { ScoredCandidate } from "../candidate.ts";
import { groupCandidates, type Dimension } from "./dimensions.ts";
import { weighGroup, type Demand } from "./select-by-karmada.ts";

/** Each attempt costs a pass over the candidates; with a thousand of them all attempts take some ten milliseconds. */
const MAX_TRIES = 64;

/** `candidates` are in order of preference; so is the result. */
export function searchSelection(
  candidates: readonly ScoredCandidate[],
  dimensions: readonly Dimension[],
  demand: Demand,
): ScoredCandidate[] | undefined {
  const search = new Search(candidates, dimensions, demand);
  return search.run() ? candidates.filter((candidate) => search.selected.has(candidate)) : undefined;
}

/** One dimension, with the number of selected clusters in each group. */
interface Tally {
  readonly dimension: Dimension;
  readonly counts: Map<string, number>;
  readonly weights: ReadonlyMap<string, number>;
}

class Search {
  /** In order of selection. */
  readonly selected = new Set<ScoredCandidate>();
  private readonly candidates: readonly ScoredCandidate[];
  private readonly demand: Demand;
  private readonly tallies: readonly Tally[];
  private tries = 0;
  private room = 0;

  constructor(candidates: readonly ScoredCandidate[], dimensions: readonly Dimension[], demand: Demand) {
    this.candidates = candidates;
    this.demand = demand;
    this.tallies = dimensions.map((dimension) => ({
      dimension,
      counts: new Map(),
      weights: new Map(
        Array.from(groupCandidates(dimension, candidates), ([name, members]) => [
          name,
          weighGroup(members, dimension.min, 1, demand),
        ]),
      ),
    }));
  }

  run(): boolean {
    const missing = this.tallies.find(({ dimension, counts }) => counts.size < dimension.min);
    if (!missing) return this.complete();
    for (const candidate of this.bringing(missing)) {
      if (this.tries++ > MAX_TRIES) return false;
      this.add(candidate);
      if (this.run()) return true;
      this.remove(candidate);
    }
    return false;
  }

  /**
   * Clusters that add a new group, one for each set of groups: first those that add the most missing groups, then those
   * of the best group.
   */
  private bringing({ dimension, counts, weights }: Tally): ScoredCandidate[] {
    const kinds = new Map<string, { candidate: ScoredCandidate; brings: number; weight: number }>();
    for (const candidate of this.candidates) {
      if (this.selected.has(candidate) || !this.mayAdd(candidate)) continue;
      const added = dimension.groupsOf(candidate).filter((group) => !counts.has(group));
      if (added.length === 0) continue;
      const kind = this.kindOf(candidate);
      if (!kinds.has(kind))
        kinds.set(kind, {
          candidate,
          brings: this.bringsMissing(candidate),
          weight: Math.max(...added.map((group) => weights.get(group) ?? 0)),
        });
    }
    return [...kinds.values()]
      .sort((a, b) => b.brings - a.brings || b.weight - a.weight)
      .map(({ candidate }) => candidate);
  }

  /** Clusters with the same groups are interchangeable, except that each is a group of its own among clusters. */
  private kindOf(candidate: ScoredCandidate): string {
    return JSON.stringify(
      this.tallies.map(({ dimension }) => (dimension.name === "cluster" ? "" : dimension.groupsOf(candidate))),
    );
  }

  private bringsMissing(candidate: ScoredCandidate): number {
    return this.tallies.filter(
      ({ dimension, counts }) =>
        counts.size < dimension.min && dimension.groupsOf(candidate).some((group) => !counts.has(group)),
    ).length;
  }

  /** Fills up and makes room; on failure, restores the previous state. */
  private complete(): boolean {
    const filled: ScoredCandidate[] = [];
    for (const candidate of this.candidates) {
      if (this.selected.has(candidate) || !this.mayAdd(candidate)) continue;
      this.add(candidate);
      filled.push(candidate);
    }
    if (this.hasRoom()) return true;
    const before = [...this.selected];
    if (this.makeRoom()) return true;
    for (const candidate of this.selected) this.remove(candidate);
    for (const candidate of before) this.add(candidate);
    for (const candidate of filled) this.remove(candidate);
    return false;
  }

  private hasRoom(): boolean {
    return this.demand.duplicated || this.room >= this.demand.replicas;
  }

  /**
   * From the last one on, clusters are replaced by the one with the most room that keeps every constraint satisfied.
   */
  private makeRoom(): boolean {
    const byRoom = this.candidates.toSorted((a, b) => b.availableReplicas - a.availableReplicas);
    for (const current of [...this.selected].reverse()) {
      this.remove(current);
      const other = byRoom.find(
        (candidate) =>
          candidate.availableReplicas <= current.availableReplicas ||
          (!this.selected.has(candidate) && this.mayAdd(candidate) && this.reachesMinima(candidate)),
      );
      this.add(other && other.availableReplicas > current.availableReplicas ? other : current);
      if (this.hasRoom()) return true;
    }
    return false;
  }

  private mayAdd(candidate: ScoredCandidate): boolean {
    return this.tallies.every(
      ({ dimension, counts }) => counts.size + countNew(dimension.groupsOf(candidate), counts) <= dimension.max,
    );
  }

  private reachesMinima(candidate: ScoredCandidate): boolean {
    return this.tallies.every(
      ({ dimension, counts }) => counts.size + countNew(dimension.groupsOf(candidate), counts) >= dimension.min,
    );
  }

  private add(candidate: ScoredCandidate): void {
    this.selected.add(candidate);
    this.room += candidate.availableReplicas;
    for (const { dimension, counts } of this.tallies)
      for (const group of dimension.groupsOf(candidate)) counts.set(group, (counts.get(group) ?? 0) + 1);
  }

  private remove(candidate: ScoredCandidate): void {
    this.selected.delete(candidate);
    this.room -= candidate.availableReplicas;
    for (const { dimension, counts } of this.tallies) {
      for (const group of dimension.groupsOf(candidate)) {
        const left = (counts.get(group) ?? 0) - 1;
        if (left > 0) counts.set(group, left);
        else counts.delete(group);
      }
    }
  }
}

function countNew(groups: readonly string[], counts: ReadonlyMap<string, number>): number {
  let fresh = 0;
  for (const group of groups) if (!counts.has(group)) fresh++;
  return fresh;
}
