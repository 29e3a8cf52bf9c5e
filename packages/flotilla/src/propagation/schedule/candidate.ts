/** A cluster that passed the filters, with its score and known capacity. */
import type { FleetCluster } from "./fleet-cluster.ts";
import type { Candidate } from "./assign.ts";

export interface ScoredCandidate extends Candidate {
  readonly cluster: FleetCluster;
  readonly score: number;
  /** Updated by every step that decides about the cluster. */
  readonly verdict: ClusterVerdict;
}

/** The decision for one cluster. */
export interface ClusterVerdict {
  readonly cluster: string;
  /** The plugin or step that excluded it; unset for a cluster of the result, and for one that is being removed. */
  rejectedBy?: string;
  /** Why it is excluded; unset for a cluster of the result. */
  reason?: string;
  /** Set once it passed the filters. */
  score?: number;
  /** Replicas that fit, including existing ones; set where capacity was estimated. */
  available?: number;
  /** Its share; unset for a resource without replicas. */
  replicas?: number;
}

/**
 * Primary clusters before overflow, then the best score, then the most capacity, then the first name. No two are equal.
 */
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
