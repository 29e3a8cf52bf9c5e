/**
 * What a ManifestWorkReplicaSet needs next: works to write, works to delete, its status, and when to look again. Pure.
 *
 * Removals are worked out from all works of the set. OCM looks only at those with the newest template, and leaves a work behind on a
 * cluster that was deselected in the middle of a rollout.
 */
import { PLACEMENT_NAME_LABEL } from "../../api/index.ts";
import type { ManifestWork, ManifestWorkReplicaSet, ManifestWorkReplicaSetStatus, ManifestWorkReplicaSetSummary, OcmPlacement } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { isConditionTrue, withCondition, type NextCondition } from "../../machinery/index.ts";
import { planRollout, RolloutError, type DecisionGroup, type RolloutPlan } from "../rollout/index.ts";
import { isCurrent, workFor } from "./child-works.ts";
import { rolloutOf } from "./rollout-state.ts";

type ReplicaSet = DeepReadonly<ManifestWorkReplicaSet>;
type Work = DeepReadonly<ManifestWork>;
type Reference = NonNullable<ReplicaSet["spec"]["placementRefs"]>[number];

/** A Placement with what it decided. */
export interface Decided {
  placement: DeepReadonly<OcmPlacement>;
  groups: readonly DecisionGroup[];
}

export interface ReplicaSetPlan {
  writes: ManifestWork[];
  deletes: Work[];
  status: DeepReadonly<ManifestWorkReplicaSetStatus>;
  recheckAfterMs?: number;
}

export interface ReplicaSetInput {
  /** Undefined for a Placement that is not there. */
  decidedOf(placement: string): Decided | undefined;
  works: readonly Work[];
  nowMs: number;
  now: string;
}

const DEFAULT_STRATEGY = { type: "All" } as const;
const NOTHING: ManifestWorkReplicaSetSummary = { total: 0, desiredTotal: 0, updated: 0, applied: 0, available: 0, progressing: 0, degraded: 0 };

export function planReplicaSet(set: ReplicaSet, { decidedOf, works, nowMs, now }: ReplicaSetInput): ReplicaSetPlan {
  const conditionsWith = (...next: NextCondition[]): ReplicaSetPlan["status"]["conditions"] =>
    next.reduce<ReplicaSetPlan["status"]["conditions"]>((all, condition) => withCondition(all, { ...condition, observedGeneration: set.metadata.generation ?? 0 }, now), set.status?.conditions);
  const references = set.spec.placementRefs;
  const decided = references.map((reference) => ({ reference, decided: decidedOf(reference.name) }));
  const missing = decided.find((each) => !each.decided)?.reference;
  // A Placement that is not there has not decided on nothing: what runs stays until it is known.
  if (missing) return { writes: [], deletes: [], status: { summary: NOTHING, placementSummary: [], ...set.status, conditions: conditionsWith(no("PlacementVerified", "PlacementDecisionNotFound", `the Placement ${missing.name} does not exist`)) } };

  const plan: Pick<ReplicaSetPlan, "writes" | "deletes"> = { writes: [], deletes: [] };
  const alive = works.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const known = new Set(references.map(({ name }) => name));
  const wantedBy = new Map<string, string>();
  const summaries: { name: string; availableDecisionGroups: string; summary: ManifestWorkReplicaSetSummary }[] = [];
  const problems: string[] = [];
  const stopped: string[] = [];
  let [selected, succeeded, recheck] = [0, 0, Number.POSITIVE_INFINITY];

  for (const { reference, decided: found } of decided) {
    if (!found) continue;
    // A cluster that two Placements chose gets one work, for the first.
    const groups = found.groups.map((group) => ({ ...group, clusters: group.clusters.filter((cluster) => !wantedBy.has(cluster)) }));
    for (const cluster of groups.flatMap(({ clusters }) => clusters)) wantedBy.set(cluster, reference.name);
    const own = alive.filter(({ metadata }) => metadata.labels?.[PLACEMENT_NAME_LABEL] === reference.name);
    const current = own.filter((work) => isCurrent(work, workFor(set, reference.name, work.metadata.namespace ?? "", work)));
    const rollout = follow(reference, groups, current, nowMs, problems);
    const byCluster = new Map(own.map((work) => [work.metadata.namespace, work]));
    const present = new Set(current.map(({ metadata }) => metadata.namespace));
    for (const { cluster, state } of rollout?.toRollout ?? []) {
      if (state !== "ToApply" || present.has(cluster)) continue;
      plan.writes.push(workFor(set, reference.name, cluster, byCluster.get(cluster)));
      present.add(cluster);
    }
    const members = new Set(groups.flatMap(({ clusters }) => clusters));
    plan.deletes.push(...own.filter(({ metadata }) => !members.has(metadata.namespace ?? "")));
    const kept = current.filter(({ metadata }) => members.has(metadata.namespace ?? ""));
    const total = [...present].filter((cluster) => cluster !== undefined && members.has(cluster)).length;
    summaries.push({ name: reference.name, availableDecisionGroups: `${found.placement.status?.decisionGroups?.length ?? 0} (${total} / ${members.size} clusters applied)`, summary: summaryOf(kept, total, members.size) });
    selected += members.size;
    succeeded += kept.filter((work) => rolloutOf(work).state === "Succeeded").length;
    recheck = Math.min(recheck, rollout?.recheckAfterMs ?? Number.POSITIVE_INFINITY);
    if (rollout?.isStopped) stopped.push(...failedOf(rollout));
  }
  plan.deletes.push(...alive.filter(({ metadata }) => !known.has(metadata.labels?.[PLACEMENT_NAME_LABEL] ?? "")));

  const summary = sumOf(summaries.map((each) => each.summary));
  const conditions = conditionsWith(verified(summary, problems), rolledOut(selected, succeeded, stopped), applied(summary));
  return { ...plan, status: { ...set.status, conditions, summary, placementSummary: summaries }, ...(Number.isFinite(recheck) && { recheckAfterMs: recheck }) };
}

function follow({ rolloutStrategy = DEFAULT_STRATEGY, name }: Reference, groups: readonly DecisionGroup[], current: readonly Work[], nowMs: number, problems: string[]): RolloutPlan | undefined {
  try {
    return planRollout(rolloutStrategy, groups, current.map(rolloutOf), nowMs);
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error;
    problems.push(`${name}: ${error.message}`);
    return undefined;
  }
}

const failedOf = ({ toRollout, timedOut }: RolloutPlan): string[] => [...timedOut, ...toRollout.filter(({ state }) => state === "Failed")].map(({ cluster }) => cluster);

function summaryOf(works: readonly Work[], total: number, desiredTotal: number): ManifestWorkReplicaSetSummary {
  const count = (type: string): number => works.filter(({ status }) => isConditionTrue(status?.conditions, type)).length;
  return { total, desiredTotal, updated: works.length, applied: count("Applied"), available: count("Available"), progressing: count("Progressing"), degraded: count("Degraded") };
}

function sumOf(summaries: readonly ManifestWorkReplicaSetSummary[]): ManifestWorkReplicaSetSummary {
  const sum = { ...NOTHING };
  for (const summary of summaries) for (const field of Object.keys(NOTHING) as (keyof ManifestWorkReplicaSetSummary)[]) sum[field] += summary[field];
  return sum;
}

const yes = (type: string, reason: string): NextCondition => ({ type, status: "True", reason, message: "" });
const no = (type: string, reason: string, message = ""): NextCondition => ({ type, status: "False", reason, message });

function verified({ total }: { total: number }, problems: readonly string[]): NextCondition {
  if (problems.length > 0) return no("PlacementVerified", "NotAsExpected", problems.join("; "));
  return total === 0 ? no("PlacementVerified", "PlacementDecisionEmpty") : yes("PlacementVerified", "AsExpected");
}

/** OCM keeps it to itself when too many clusters failed. */
function rolledOut(selected: number, succeeded: number, stopped: readonly string[]): NextCondition {
  if (selected === succeeded) return yes("PlacementRolledOut", "Complete");
  return no("PlacementRolledOut", "Progressing", stopped.length > 0 ? `no more clusters are started, because more failed than maxFailures allows: ${stopped.join(", ")}` : "");
}

function applied({ total, available, progressing, degraded }: { total: number; available: number; progressing: number; degraded: number }): NextCondition {
  if (total === 0) return no("ManifestworkApplied", "PlacementDecisionEmpty");
  if (available === total && progressing === 0 && degraded === 0) return yes("ManifestworkApplied", "AsExpected");
  return no("ManifestworkApplied", progressing > 0 && degraded === 0 ? "Processing" : "NotAsExpected");
}
