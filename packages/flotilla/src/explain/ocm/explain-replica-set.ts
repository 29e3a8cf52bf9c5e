/** Explains rollout progress of a ManifestWorkReplicaSet per Placement, and what blocks it. Pure. */
import type { ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import { formatTime, type DeepReadonly } from "@flotilla/base";
import { findCondition, formatAge } from "@flotilla/apimachinery";
import { unhealthyForMs } from "../../health/healthy-condition.ts";
import { isCurrent, workFor } from "../../ocm/replicaset/child-works.ts";
import { planWorksRollout } from "../../ocm/rollout/plan-works-rollout.ts";
import { referencesOf } from "../../ocm/replicaset/plan-replica-set.ts";
import { RolloutError } from "../../ocm/rollout/rollout-error.ts";
import { rolloutOf } from "../../ocm/replicaset/rollout-state.ts";
import type { DecisionGroup } from "../../ocm/rollout/plan-works-rollout.ts";
import type { Verdict } from "../../ocm/replicaset/decided.ts";
import type { ExplainedRollout, Explanation, Problem } from "../explanation.ts";
import { unhealthyObjects } from "./explain-work.ts";
import { refusalIn } from "./work-verdict.ts";

type ReplicaSet = DeepReadonly<ManifestWorkReplicaSet>;
type Work = DeepReadonly<ManifestWork>;
type Row = ExplainedRollout["clusters"][number];
type Strategy = NonNullable<ReplicaSet["spec"]["placementRefs"][number]["rolloutStrategy"]>;

export interface ReplicaSetViews {
  /** The decision of a Placement in the set's namespace. */
  verdictOf(placement: string): Verdict;
  /** All works of the set. */
  works: readonly Work[];
  /** Why what the cluster last reported may have changed since. */
  whyAway?(cluster: string): string | undefined;
  nowMs: number;
}

export type ReplicaSetExplanation = Required<Pick<Explanation, "rollout" | "problems">>;

/** Limit per Placement; finished clusters are listed last. */
const MAX_CLUSTERS = 100;
const MAX_PROBLEMS = 50;
const MAX_NAMED = 3;
/** Per cluster. */
const MAX_UNHEALTHY = 5;
const SUCCEEDED = "Succeeded";
/** The template has not been rolled out to the cluster yet. */
const WAITING = "Waiting";
/** Not finished within the strategy's deadline. */
const TIMED_OUT = "TimeOut";
const REJECTED = "Rejected";
/** What the cluster last reported may have changed since. */
const STALE = "Stale";

export function explainReplicaSet(
  set: ReplicaSet,
  { verdictOf, works, whyAway, nowMs }: ReplicaSetViews,
): ReplicaSetExplanation {
  // A work that is being deleted counts only if there is no other.
  const byCluster = new Map(
    works
      .toSorted((a, b) => Number(isLeaving(b)) - Number(isLeaving(a)))
      .map((work) => [work.metadata.namespace, work]),
  );
  const problems: Problem[] = [];
  const taken = new Set<string>();
  const rollout = referencesOf(set).map(({ name, rolloutStrategy = { type: "All" } }): ExplainedRollout => {
    const verdict = verdictOf(name);
    if (typeof verdict === "string") problems.push(undecidedProblem(name, verdict));
    // A cluster selected by two Placements counts for the first.
    const groups =
      typeof verdict === "string"
        ? []
        : verdict.groups.map((group) => ({
            ...group,
            clusters: group.clusters.filter((cluster) => !taken.has(cluster)),
          }));
    const chosen = [...new Set(groups.flatMap(({ clusters }) => clusters))];
    for (const cluster of chosen) taken.add(cluster);
    const current = chosen
      .flatMap((cluster) => byCluster.get(cluster) ?? [])
      .filter((work) => !isLeaving(work) && isCurrent(work, workFor(set, name, work.metadata.namespace ?? "", work)));
    const { reason, timedOut } = waitingForecast(rolloutStrategy, groups, current, nowMs);
    const rows = chosen.map((cluster) =>
      markStale(applyStrategy(rowOf(set, name, cluster, byCluster.get(cluster)), timedOut, reason), whyAway?.(cluster)),
    );
    const counts = new Map<string, number>();
    for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
    const clusters = rows
      .toSorted(
        (a, b) => Number(a.state === SUCCEEDED) - Number(b.state === SUCCEEDED) || (a.cluster < b.cluster ? -1 : 1),
      )
      .slice(0, MAX_CLUSTERS);
    return { placement: name, strategy: rolloutStrategy.type ?? "All", counts: Object.fromEntries(counts), clusters };
  });
  return {
    rollout,
    problems: [
      ...problems,
      ...setProblems(set),
      ...rollout.flatMap(({ clusters }) => clusters.flatMap((row) => rowProblems(row, nowMs))),
    ].slice(0, MAX_PROBLEMS),
  };
}

const isLeaving = ({ metadata }: Work): boolean => metadata.deletionTimestamp !== undefined;

function undecidedProblem(placement: string, verdict: "absent" | "deciding"): Problem {
  if (verdict === "absent")
    return {
      what: `Placement ${placement} does not exist in its namespace`,
      try: "create it, or change spec.placementRefs; running workloads are kept meanwhile",
    };
  return {
    what: `Placement ${placement} has not decided yet, or some of its PlacementDecisions are missing`,
    try: `run 'flotilla why placement/${placement}'; running workloads are kept meanwhile`,
  };
}

/**
 * Applies the strategy to the current state: which clusters timed out, and why the remaining clusters wait, if they do.
 */
function waitingForecast(
  strategy: Strategy,
  groups: readonly DecisionGroup[],
  current: readonly Work[],
  nowMs: number,
): { reason?: string; timedOut: ReadonlySet<string> } {
  try {
    const { toRollout, timedOut, isStopped, recheckAfterMs } = planWorksRollout(
      strategy,
      groups,
      current.map(rolloutOf),
      nowMs,
    );
    const late = new Set(timedOut.map(({ cluster }) => cluster));
    if (isStopped) return { reason: "the rollout stopped because too many clusters failed", timedOut: late };
    const present = new Set(current.map(({ metadata }) => metadata.namespace));
    const ahead = [...toRollout.filter(({ cluster }) => present.has(cluster)).map(({ cluster }) => cluster), ...late];
    if (ahead.length === 0) return { timedOut: late };
    const names =
      ahead.length > MAX_NAMED
        ? `${ahead.slice(0, MAX_NAMED).join(", ")} and ${ahead.length - MAX_NAMED} more`
        : ahead.join(", ");
    return {
      reason: `comes after ${names}${recheckAfterMs === undefined ? "" : `, not before ${formatTime(nowMs + recheckAfterMs)}`}`,
      timedOut: late,
    };
  } catch (error) {
    if (error instanceof RolloutError) return { reason: error.message, timedOut: new Set() };
    throw error;
  }
}

/** The row with the strategy's result applied. */
function applyStrategy(row: Row, timedOut: ReadonlySet<string>, reason: string | undefined): Row {
  if (timedOut.has(row.cluster)) return { ...row, state: TIMED_OUT };
  return row.state === WAITING && reason !== undefined
    ? { ...row, message: [row.message, reason].filter(Boolean).join("; ") }
    : row;
}

/** A row that only says what the cluster is yet to get is not stale. */
function markStale(row: Row, why: string | undefined): Row {
  if (why === undefined || row.work === undefined) return row;
  return { ...row, state: STALE, message: `it is ${why}; it last reported ${row.state}` };
}

function rowOf(set: ReplicaSet, placement: string, cluster: string, work: Work | undefined): Row {
  if (!work) return { cluster, state: WAITING };
  const name = { work: work.metadata.name };
  if (isLeaving(work)) return { cluster, state: "Leaving", ...name };
  if (!isCurrent(work, workFor(set, placement, cluster, work)))
    return { cluster, state: WAITING, ...name, message: "it has an earlier template" };
  const { state, sinceMs } = rolloutOf(work);
  const applied = findCondition(work.status?.conditions, "Applied");
  const isRefused = applied?.status === "False" && applied.observedGeneration === work.metadata.generation;
  const message = isRefused
    ? refusalIn(work)
    : findCondition(work.status?.conditions, state === "Failed" ? "Degraded" : "Progressing")?.message;
  // Written, but not yet applied by the member.
  const shown = isRefused ? REJECTED : state === "ToApply" ? "Applying" : state;
  const unhealthy = unhealthyObjects(work).slice(0, MAX_UNHEALTHY);
  return {
    cluster,
    state: shown,
    ...name,
    since: sinceMs !== undefined ? formatTime(sinceMs) : undefined,
    message: message && state !== SUCCEEDED ? message : undefined,
    unhealthy: unhealthy.length > 0 ? unhealthy : undefined,
  };
}

function setProblems({ metadata, status }: ReplicaSet): Problem[] {
  const conditions = status?.conditions ?? [];
  const [verified, rolledOut] = [
    findCondition(conditions, "PlacementVerified"),
    findCondition(conditions, "PlacementRolledOut"),
  ];
  const problems: Problem[] = [];
  if (metadata.deletionTimestamp)
    problems.push({
      what: "it is being deleted and waits for its works to be deleted",
      try: "run 'flotilla why manifestwork' for the remaining works",
    });
  if (verified?.status === "False" && verified.reason === "PlacementDecisionEmpty")
    problems.push({ what: "its Placements selected no cluster", try: "run 'flotilla why placement/NAME'" });
  else if (verified?.status === "False" && verified.reason === "NotAsExpected")
    problems.push({
      what: verified.message || "its rollout strategy is invalid",
      try: "correct spec.placementRefs",
    });
  if (rolledOut?.status === "False" && rolledOut.message)
    problems.push({ what: rolledOut.message, try: "correct the template, or raise maxFailures" });
  return problems;
}

/** Description of a failed cluster, by state. */
const FAILURES: Readonly<Record<string, string>> = {
  Failed: "it failed",
  [REJECTED]: "the cluster rejects the work",
  [TIMED_OUT]: "the cluster did not finish within progressDeadline",
  [STALE]: "the cluster does not report",
};

function rowProblems(row: Row, nowMs: number): Problem[] {
  const { cluster, state, work, message, unhealthy = [] } = row;
  const advice = `run 'flotilla why manifestwork/${work} -n ${cluster}'`;
  const failure = Object.hasOwn(FAILURES, state) ? FAILURES[state] : undefined;
  if (failure !== undefined) {
    const what = state === TIMED_OUT && message ? `${failure}: ${message}` : (message ?? failure);
    return [{ what: `${cluster}: ${what}`, try: state === STALE ? `run 'flotilla doctor'` : advice }];
  }
  return unhealthy.flatMap(({ kind, namespace, name, unhealthy: wrong, unhealthySince }) => {
    const forMs = unhealthyForMs({ status: "False", lastTransitionTime: unhealthySince ?? "" }, nowMs);
    if (forMs === undefined) return [];
    const object = `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
    return [{ what: `${cluster}: ${object} has not been healthy for ${formatAge(forMs)}: ${wrong}`, try: advice }];
  });
}
