/** How far the clusters of a ManifestWorkReplicaSet have come, Placement by Placement, and what holds it up. Pure. */
import { PLACEMENT_NAME_LABEL } from "../../api/index.ts";
import type { ManifestWork, ManifestWorkReplicaSet } from "../../api/index.ts";
import { formatTime, type DeepReadonly } from "../../base/index.ts";
import { findCondition } from "../../machinery/index.ts";
import { isCurrent, planRollout, RolloutError, rolloutOf, workFor } from "../../ocm/index.ts";
import type { DecisionGroup } from "../../ocm/index.ts";
import type { ExplainedRollout, Explanation, Problem } from "../explanation.ts";
import { refusalIn } from "./work-verdict.ts";

type ReplicaSet = DeepReadonly<ManifestWorkReplicaSet>;
type Work = DeepReadonly<ManifestWork>;
type Row = ExplainedRollout["clusters"][number];

export interface ReplicaSetViews {
  /** What a Placement of the set's namespace has decided; undefined when there is no such Placement. */
  decidedBy(placement: string): readonly DecisionGroup[] | undefined;
  /** All works of the set. */
  works: readonly Work[];
  nowMs: number;
}

export type ReplicaSetExplanation = Required<Pick<Explanation, "rollout" | "problems">>;

/** The first of each Placement; those that are through come last. */
const MAX_CLUSTERS = 100;
const MAX_PROBLEMS = 50;
const MAX_NAMED = 3;
const SUCCEEDED = "Succeeded";
/** The template has not reached the cluster: its turn has not come. */
const WAITING = "Waiting";

export function explainReplicaSet(set: ReplicaSet, { decidedBy, works, nowMs }: ReplicaSetViews): ReplicaSetExplanation {
  const byPlace = new Map(works.map((work) => [`${work.metadata.labels?.[PLACEMENT_NAME_LABEL]} ${work.metadata.namespace}`, work]));
  const problems: Problem[] = [];
  const taken = new Set<string>();
  const rollout = set.spec.placementRefs.map(({ name, rolloutStrategy = { type: "All" } }): ExplainedRollout => {
    // A cluster that two Placements chose counts for the first.
    const groups = decidedBy(name)?.map((group) => ({ ...group, clusters: group.clusters.filter((cluster) => !taken.has(cluster)) }));
    const chosen = [...new Set((groups ?? []).flatMap(({ clusters }) => clusters))];
    for (const cluster of chosen) taken.add(cluster);
    if (!groups) problems.push({ what: `there is no Placement ${name} in its namespace`, try: "create it, or change spec.placementRefs; what runs stays meanwhile" });
    const found = chosen.map((cluster) => rowOf(set, name, cluster, byPlace.get(`${name} ${cluster}`)));
    const reason = found.some(({ state }) => state === WAITING) ? waitingFor(rolloutStrategy, groups ?? [], currentWorks(set, name, works), nowMs) : undefined;
    const rows = found.map((row) => (row.state === WAITING && reason !== undefined ? { ...row, message: [row.message, reason].filter(Boolean).join("; ") } : row));
    const counts = new Map<string, number>();
    for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
    const clusters = rows.toSorted((a, b) => Number(a.state === SUCCEEDED) - Number(b.state === SUCCEEDED) || (a.cluster < b.cluster ? -1 : 1)).slice(0, MAX_CLUSTERS);
    return { placement: name, strategy: rolloutStrategy.type ?? "All", counts: Object.fromEntries(counts), clusters };
  });
  return { rollout, problems: [...problems, ...setProblems(set), ...rollout.flatMap(({ clusters }) => clusters.flatMap(rowProblems))].slice(0, MAX_PROBLEMS) };
}

const currentWorks = (set: ReplicaSet, placement: string, works: readonly Work[]): Work[] =>
  works.filter((work) => work.metadata.labels?.[PLACEMENT_NAME_LABEL] === placement && !work.metadata.deletionTimestamp && isCurrent(work, workFor(set, placement, work.metadata.namespace ?? "", work)));

/** Why clusters that have not begun wait; undefined when their turn is now. */
function waitingFor(strategy: NonNullable<ReplicaSet["spec"]["placementRefs"][number]["rolloutStrategy"]>, groups: readonly DecisionGroup[], current: readonly Work[], nowMs: number): string | undefined {
  try {
    const { toRollout, timedOut, isStopped, recheckAfterMs } = planRollout(strategy, groups, current.map(rolloutOf), nowMs);
    if (isStopped) return "no more are started, because too many failed";
    const present = new Set(current.map(({ metadata }) => metadata.namespace));
    const ahead = [...toRollout.filter(({ cluster }) => present.has(cluster)), ...timedOut].map(({ cluster }) => cluster);
    if (ahead.length === 0) return undefined;
    const names = ahead.length > MAX_NAMED ? `${ahead.slice(0, MAX_NAMED).join(", ")} and ${ahead.length - MAX_NAMED} more` : ahead.join(", ");
    return `comes after ${names}${recheckAfterMs === undefined ? "" : `, not before ${formatTime(nowMs + recheckAfterMs)}`}`;
  } catch (error) {
    if (error instanceof RolloutError) return error.message;
    throw error;
  }
}

function rowOf(set: ReplicaSet, placement: string, cluster: string, work: Work | undefined): Row {
  if (!work) return { cluster, state: WAITING };
  const name = { work: work.metadata.name };
  if (work.metadata.deletionTimestamp) return { cluster, state: "Leaving", ...name };
  if (!isCurrent(work, workFor(set, placement, cluster, work))) return { cluster, state: WAITING, ...name, message: "it has an earlier template" };
  const { state, sinceMs } = rolloutOf(work);
  const message = findCondition(work.status?.conditions, "Applied")?.status === "False" ? refusalIn(work) : findCondition(work.status?.conditions, state === "Failed" ? "Degraded" : "Progressing")?.message;
  // Written and not yet taken up by the member.
  const shown = state === "ToApply" ? "Applying" : state;
  return { cluster, state: shown, ...name, ...(sinceMs !== undefined && { since: formatTime(sinceMs) }), ...(message && state !== SUCCEEDED && { message }) };
}

function setProblems({ metadata, status }: ReplicaSet): Problem[] {
  const conditions = status?.conditions ?? [];
  const [verified, rolledOut] = [findCondition(conditions, "PlacementVerified"), findCondition(conditions, "PlacementRolledOut")];
  const problems: Problem[] = [];
  if (metadata.deletionTimestamp) problems.push({ what: "it is being deleted, and waits for its works to go", try: "see 'flotilla why manifestwork' of those that stay" });
  if (verified?.status === "False" && verified.reason === "PlacementDecisionEmpty") problems.push({ what: "its Placements have chosen no cluster", try: "ask 'flotilla why placement/NAME'" });
  else if (verified?.status === "False" && verified.reason === "NotAsExpected") problems.push({ what: verified.message || "its rollout strategy cannot be followed", try: "correct spec.placementRefs" });
  if (rolledOut?.status === "False" && rolledOut.message) problems.push({ what: rolledOut.message, try: "correct the template, or raise maxFailures" });
  return problems;
}

function rowProblems({ cluster, state, work, message }: Row): Problem[] {
  if (state !== "Failed" && (state !== "Applying" || !message)) return [];
  return [{ what: `${cluster}: ${message ?? "it failed"}`, try: `ask 'flotilla why manifestwork/${work} -n ${cluster}'` }];
}
