/**
 * The next steps of a ManifestWorkReplicaSet: works to write, works to delete, its status, and when to reconcile again.
 * Pure.
 *
 * Deletions consider all works of the set. OCM only considers those with the latest template, and leaves a work behind
 * on a cluster that was deselected in the middle of a rollout.
 */
import type { ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import type {
  ManifestWorkReplicaSetStatus,
  ManifestWorkReplicaSetSummary,
} from "@flotilla/apimachinery/facts/work-ocm-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition, isConditionTrue, withCondition, type NextCondition } from "@flotilla/apimachinery";
import { planWorksRollout, RolloutError, type DecisionGroup, type RolloutPlan } from "../rollout/index.ts";
import { handedOver, isCurrent, placementOf, workFor, type IsTaken } from "./child-works.ts";
import type { Decided, Verdict } from "./decided.ts";
import { STALE } from "../../flotilla-names.ts";
import { rolloutOf } from "./rollout-state.ts";

type ReplicaSet = DeepReadonly<ManifestWorkReplicaSet>;
type Work = DeepReadonly<ManifestWork>;
type Reference = NonNullable<ReplicaSet["spec"]["placementRefs"]>[number];
type Conditions = DeepReadonly<ManifestWorkReplicaSetStatus>["conditions"];

export interface ReplicaSetPlan {
  writes: ManifestWork[];
  deletes: Work[];
  status: DeepReadonly<ManifestWorkReplicaSetStatus>;
  recheckAfterMs?: number;
}

export interface ReplicaSetInput {
  decidedOf(placement: string): Verdict;
  isTaken?: IsTaken;
  /** Why what the cluster last reported may have changed since. */
  whyAway?(cluster: string): string | undefined;
  works: readonly Work[];
  /** Why the hub could not write the work of a cluster just now. */
  unwritten?: ReadonlyMap<string, string>;
  nowMs: number;
  now: string;
}

const DEFAULT_STRATEGY = { type: "All" } as const;
const NONE: ReadonlyMap<string, string> = new Map();
const NOTHING: ManifestWorkReplicaSetSummary = {
  total: 0,
  desiredTotal: 0,
  updated: 0,
  applied: 0,
  available: 0,
  progressing: 0,
  degraded: 0,
};

export function planReplicaSet(set: ReplicaSet, input: ReplicaSetInput): ReplicaSetPlan {
  const { decidedOf, isTaken, whyAway, works, unwritten = NONE, nowMs, now } = input;
  const conditionsWith = (...next: NextCondition[]): Conditions =>
    next.reduce<Conditions>(
      (all, condition) => withCondition(all, { ...condition, observedGeneration: set.metadata.generation ?? 0 }, now),
      set.status?.conditions,
    );
  const shares: Share[] = [];
  const placementByCluster = new Map<string, string>();
  for (const reference of referencesOf(set)) {
    const decided = decidedOf(reference.name);
    // A Placement that does not exist or has not decided has not decided on zero clusters: existing works stay until
    // the decision is known.
    if (typeof decided === "string")
      return { writes: [], deletes: [], status: waitingStatus(set, reference.name, decided, conditionsWith) };
    shares.push(shareOf(reference, decided, placementByCluster));
  }

  const alive = works.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  // A work that is being deleted deletes the same objects, and may have its successor's name.
  const leaving = new Set(
    works.flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [] : [metadata.namespace])),
  );
  const keptWorks = keptWorksOf(alive, placementByCluster);
  const isFinal = shares.every(({ decided }) => decided.isFinal);
  const plan: Pick<ReplicaSetPlan, "writes" | "deletes"> = {
    writes: [],
    deletes: isFinal ? alive.filter((work) => keptWorks.get(work.metadata.namespace ?? "") !== work) : [],
  };
  const summaries: { name: string; availableDecisionGroups: string; summary: ManifestWorkReplicaSetSummary }[] = [];
  const problems: string[] = [];
  const stopped: string[] = [];
  const away: string[] = [];
  let [selected, succeeded, recheck] = [0, 0, Number.POSITIVE_INFINITY];

  for (const { reference, decided, groups, clusters } of shares) {
    const { name } = reference;
    const own = [...clusters].flatMap((cluster) => keptWorks.get(cluster) ?? []);
    const current = own.filter((work) => isCurrent(work, workFor(set, name, work.metadata.namespace ?? "", work)));
    const rollout = follow(reference, groups, current, nowMs, problems);
    const present = new Set(current.map(({ metadata }) => metadata.namespace));
    for (const { metadata } of current) {
      const why = whyAway?.(metadata.namespace ?? "");
      if (why !== undefined) away.push(`${metadata.namespace ?? ""} (${why})`);
    }
    const started = new Set<string | undefined>();
    for (const { cluster, state } of rollout?.toRollout ?? []) {
      if (state !== "ToApply" || present.has(cluster) || leaving.has(cluster)) continue;
      plan.writes.push(workFor(set, name, cluster, keptWorks.get(cluster), isTaken));
      if (!unwritten.has(cluster)) present.add(cluster);
      started.add(cluster);
    }
    plan.writes.push(
      ...own
        .filter((work) => placementOf(work) !== name && !started.has(work.metadata.namespace))
        .map((work) => handedOver(work, name)),
    );
    summaries.push({
      name,
      availableDecisionGroups: `${decided.placement.status?.decisionGroups?.length ?? 0} (${present.size} / ${clusters.size} clusters applied)`,
      summary: summaryOf(current, present.size, clusters.size),
    });
    selected += clusters.size;
    succeeded += current.filter((work) => rolloutOf(work).state === "Succeeded").length;
    recheck = Math.min(recheck, rollout?.recheckAfterMs ?? Number.POSITIVE_INFINITY);
    if (rollout?.isStopped) stopped.push(...failedOf(rollout));
  }

  const summary = sumOf(summaries.map((each) => each.summary));
  const conditions = conditionsWith(
    verified(summary, problems),
    rolledOut(selected, succeeded, [...unwrittenText(unwritten), ...stoppedText(stopped)]),
    applied(summary),
    ...staleness(set, away),
  );
  return {
    ...plan,
    status: { ...set.status, conditions, summary, placementSummary: summaries },
    recheckAfterMs: Number.isFinite(recheck) ? recheck : undefined,
  };
}

/** The clusters of one Placement, without those of earlier Placements. */
interface Share {
  reference: Reference;
  decided: Decided;
  groups: readonly DecisionGroup[];
  clusters: ReadonlySet<string>;
}

/** A Placement that is referenced twice counts once, with its first reference. */
export function referencesOf({ spec }: ReplicaSet): Reference[] {
  const names = new Set<string>();
  return spec.placementRefs.filter(({ name }) => !names.has(name) && names.add(name));
}

/** A cluster chosen by two Placements gets one work, for the first Placement. */
function shareOf(reference: Reference, decided: Decided, placementByCluster: Map<string, string>): Share {
  const groups = decided.groups.map((group) => ({
    ...group,
    clusters: group.clusters.filter((cluster) => !placementByCluster.has(cluster)),
  }));
  const clusters = new Set(groups.flatMap((group) => group.clusters));
  for (const cluster of clusters) placementByCluster.set(cluster, reference.name);
  return { reference, decided, groups, clusters };
}

/**
 * The work that each chosen cluster keeps: one of its own Placement if it exists, otherwise one of another Placement,
 * which is handed over.
 */
function keptWorksOf(alive: readonly Work[], placementByCluster: ReadonlyMap<string, string>): Map<string, Work> {
  const keptWorks = new Map<string, Work>();
  for (const work of alive) {
    const cluster = work.metadata.namespace ?? "";
    const home = placementByCluster.get(cluster);
    if (home === undefined) continue;
    const known = keptWorks.get(cluster);
    if (!known || (placementOf(known) !== home && placementOf(work) === home)) keptWorks.set(cluster, work);
  }
  return keptWorks;
}

function waitingStatus(
  set: ReplicaSet,
  placement: string,
  verdict: "absent" | "deciding",
  conditionsWith: (...next: NextCondition[]) => Conditions,
): ReplicaSetPlan["status"] {
  // A changing decision is incomplete for a moment, which is not worth a status write.
  const said = findCondition(set.status?.conditions, "PlacementVerified");
  if (verdict === "deciding" && set.status && said?.observedGeneration === set.metadata.generation) return set.status;
  const message = `the Placement ${placement} ${verdict === "absent" ? "does not exist" : "has not decided yet"}`;
  return {
    summary: NOTHING,
    placementSummary: [],
    ...set.status,
    conditions: conditionsWith(no("PlacementVerified", "PlacementDecisionNotFound", message)),
  };
}

function follow(
  { rolloutStrategy = DEFAULT_STRATEGY, name }: Reference,
  groups: readonly DecisionGroup[],
  current: readonly Work[],
  nowMs: number,
  problems: string[],
): RolloutPlan | undefined {
  try {
    return planWorksRollout(rolloutStrategy, groups, current.map(rolloutOf), nowMs);
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error;
    problems.push(`${name}: ${error.message}`);
    return undefined;
  }
}

const failedOf = ({ toRollout, timedOut }: RolloutPlan): string[] =>
  [...timedOut, ...toRollout.filter(({ state }) => state === "Failed")].map(({ cluster }) => cluster);

function summaryOf(works: readonly Work[], total: number, desiredTotal: number): ManifestWorkReplicaSetSummary {
  const count = (type: string): number =>
    works.filter(({ status }) => isConditionTrue(status?.conditions, type)).length;
  return {
    total,
    desiredTotal,
    updated: works.length,
    applied: count("Applied"),
    available: count("Available"),
    progressing: count("Progressing"),
    degraded: count("Degraded"),
  };
}

function sumOf(summaries: readonly ManifestWorkReplicaSetSummary[]): ManifestWorkReplicaSetSummary {
  const sum = { ...NOTHING };
  for (const summary of summaries)
    for (const field of Object.keys(NOTHING) as (keyof ManifestWorkReplicaSetSummary)[]) sum[field] += summary[field];
  return sum;
}

const yes = (type: string, reason: string): NextCondition => ({ type, status: "True", reason, message: "" });
const no = (type: string, reason: string, message = ""): NextCondition => ({ type, status: "False", reason, message });

function verified({ total }: { total: number }, problems: readonly string[]): NextCondition {
  if (problems.length > 0) return no("PlacementVerified", "NotAsExpected", problems.join("; "));
  return total === 0 ? no("PlacementVerified", "PlacementDecisionEmpty") : yes("PlacementVerified", "AsExpected");
}

/** How many clusters the message names. */
const MAX_AWAY = 10;

/** Whether the summary has reports that may have changed since. A set that was never stale has no such condition. */
function staleness({ status }: ReplicaSet, away: readonly string[]): NextCondition[] {
  if (away.length > 0) {
    const more = away.length > MAX_AWAY ? ` and ${away.length - MAX_AWAY} more` : "";
    return [
      {
        type: STALE,
        status: "True",
        reason: "ClustersNotReporting",
        message: `the summary has the last reports of ${away.toSorted().slice(0, MAX_AWAY).join(", ")}${more}`,
      },
    ];
  }
  return findCondition(status?.conditions, STALE)
    ? [{ type: STALE, status: "False", reason: "AllClustersReporting", message: "Every cluster reports its status" }]
    : [];
}

/** OCM does not report when too many clusters failed, or the hub rejects a work. */
function rolledOut(selected: number, succeeded: number, reasons: readonly string[]): NextCondition {
  if (selected === succeeded && reasons.length === 0) return yes("PlacementRolledOut", "Complete");
  return no("PlacementRolledOut", "Progressing", reasons.join("; "));
}

const stoppedText = (stopped: readonly string[]): string[] =>
  stopped.length > 0
    ? [`no more clusters are started, because more failed than maxFailures allows: ${stopped.join(", ")}`]
    : [];

/** The clusters with the same cause together. */
function unwrittenText(unwritten: ReadonlyMap<string, string>): string[] {
  return Array.from(
    Map.groupBy(unwritten, ([, cause]) => cause),
    ([cause, of]) => {
      const clusters = of.map(([cluster]) => cluster).toSorted();
      const more = clusters.length > MAX_AWAY ? ` and ${clusters.length - MAX_AWAY} more` : "";
      return `the hub cannot write the ManifestWork of ${clusters.slice(0, MAX_AWAY).join(", ")}${more}: ${cause}`;
    },
  );
}

function applied({
  total,
  available,
  progressing,
  degraded,
}: {
  total: number;
  available: number;
  progressing: number;
  degraded: number;
}): NextCondition {
  if (total === 0) return no("ManifestworkApplied", "PlacementDecisionEmpty");
  if (available === total && progressing === 0 && degraded === 0) return yes("ManifestworkApplied", "AsExpected");
  return no("ManifestworkApplied", progressing > 0 && degraded === 0 ? "Processing" : "NotAsExpected");
}
