/**
 * A decision in few bytes, to be kept with the binding and read by `flotilla why`: the clusters of the result one by one, the
 * others counted by what refused them, with the first few by name. A thousand clusters are refused for a handful of reasons.
 */
import type { FailedTerm, SchedulePlan } from "./plan-schedule.ts";

/** Clusters that are named for each reason; the others are counted. */
const MAX_NAMED = 10;

export interface KeptCluster {
  readonly cluster: string;
  readonly score?: number;
  readonly available?: number;
  readonly replicas?: number;
}

export interface RefusedClusters {
  /** The plugin or step. */
  readonly by: string;
  readonly reason: string;
  readonly count: number;
  readonly clusters: readonly string[];
}

export interface DecisionSummary {
  /** Sorted by name. */
  readonly kept: readonly KeptCluster[];
  /** Most first. */
  readonly refused: readonly RefusedClusters[];
  readonly affinityName?: string;
  readonly failedTerms?: readonly FailedTerm[];
  /** Why nothing was decided. */
  readonly message?: string;
}

/** Undefined when nothing was decided anew. */
export function summariseDecision(plan: SchedulePlan): DecisionSummary | undefined {
  if (plan.outcome === "unchanged") return undefined;
  const kept: KeptCluster[] = [];
  const refused = new Map<string, { by: string; reason: string; count: number; clusters: string[] }>();
  for (const { cluster, refusedBy = "Fleet", reason, score, available, replicas } of plan.verdicts) {
    if (reason === undefined) {
      kept.push({ cluster, ...(score !== undefined && { score }), ...(available !== undefined && { available }), ...(replicas !== undefined && { replicas }) });
      continue;
    }
    const key = `${refusedBy} ${reason}`;
    const group = refused.get(key) ?? { by: refusedBy, reason, count: 0, clusters: [] };
    if (group.count++ < MAX_NAMED) group.clusters.push(cluster);
    refused.set(key, group);
  }
  return {
    kept,
    refused: [...refused.values()].sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1)),
    ...(plan.outcome === "scheduled" && plan.affinityName !== undefined && { affinityName: plan.affinityName }),
    ...(plan.failedTerms.length > 0 && { failedTerms: plan.failedTerms }),
    ...(plan.outcome === "unschedulable" && { message: plan.message }),
  };
}
