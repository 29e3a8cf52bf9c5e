/** A cluster that passed the filters, with its score and what is known of its capacity. */
import type { FleetCluster } from "./fleet.ts";
import type { Candidate } from "./assign.ts";

export interface ScoredCandidate extends Candidate {
  readonly cluster: FleetCluster;
  readonly score: number;
}

/** Primary clusters before overflow, then the best score, then the most room, then the first name. No two are equal. */
export function byPreference(a: ScoredCandidate, b: ScoredCandidate): number {
  if (a.overflowOrder !== b.overflowOrder) return a.overflowOrder - b.overflowOrder;
  if (a.score !== b.score) return b.score - a.score;
  if (a.availableReplicas !== b.availableReplicas) return b.availableReplicas - a.availableReplicas;
  return a.cluster.name < b.cluster.name ? -1 : 1;
}

export function sumAvailable(candidates: readonly ScoredCandidate[]): number {
  let sum = 0;
  for (const { availableReplicas } of candidates) sum += availableReplicas;
  return sum;
}
