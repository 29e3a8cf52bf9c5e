/**
 * A compact decision, stored with the binding and read by `flotilla why`: the clusters of the result one by one, the
 * others counted by rejection reason, with the first few by name. A thousand clusters are excluded for a handful of
 * reasons.
 */
import type { FailedTerm, SchedulePlan } from "./plan-schedule.ts";

/** Clusters named for each reason; the others are counted. */
const MAX_NAMED = 10;

interface KeptCluster {
  readonly cluster: string;
  readonly score?: number;
  readonly available?: number;
  readonly replicas?: number;
}

interface RejectedClusters {
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
  readonly rejected: readonly RejectedClusters[];
  readonly affinityName?: string;
  readonly failedTerms?: readonly FailedTerm[];
  /** Why there is no decision. */
  readonly message?: string;
}

/** Taints with a different value on each cluster cause as many reasons; the rest is combined. */
const MAX_REASONS = 50;

function largest(groups: Group[]): Group[] {
  groups.sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
  if (groups.length <= MAX_REASONS) return groups;
  const rest = groups.splice(MAX_REASONS - 1);
  return [
    ...groups,
    {
      by: "Fleet",
      reason: `${rest.length} other reasons`,
      count: rest.reduce((sum, { count }) => sum + count, 0),
      clusters: rest.flatMap(({ clusters }) => clusters).slice(0, MAX_NAMED),
    },
  ];
}

type Group = { by: string; reason: string; count: number; clusters: string[] };

/** Undefined without a new decision. */
export function summariseDecision(plan: SchedulePlan): DecisionSummary | undefined {
  if (plan.outcome === "unchanged") return undefined;
  const kept: KeptCluster[] = [];
  const rejected = new Map<string, Group[]>();
  // Adjacent clusters are mostly excluded for the same reason, which saves a lookup.
  let group: Group | undefined;
  for (const { cluster, rejectedBy = "Fleet", reason, score, available, replicas } of plan.verdicts) {
    if (reason === undefined) {
      kept.push({ cluster, score, available, replicas });
      continue;
    }
    if (group?.reason !== reason || group.by !== rejectedBy) {
      const alike = rejected.get(reason) ?? [];
      group = alike.find(({ by }) => by === rejectedBy);
      if (!group) rejected.set(reason, [...alike, (group = { by: rejectedBy, reason, count: 0, clusters: [] })]);
    }
    if (group.count++ < MAX_NAMED) group.clusters.push(cluster);
  }
  return {
    kept,
    rejected: largest([...rejected.values()].flat()),
    affinityName: plan.outcome === "scheduled" && plan.affinityName !== undefined ? plan.affinityName : undefined,
    failedTerms: plan.failedTerms.length > 0 ? plan.failedTerms : undefined,
    message: plan.outcome === "unschedulable" ? plan.message : undefined,
  };
}
