/**
 * Computes which clusters are rolled out next and which have failed: OCM's rollout strategies over the decision groups
 * of a Placement. Pure: the current state of each cluster and the time are inputs.
 *
 * Two results differ from OCM's. A maxFailures larger than the number of clusters tolerates all failures instead of
 * none. And a group starts only when no cluster of an earlier group is progressing; OCM counts timed-out clusters as
 * progressing and may start two groups at once.
 */
import type { RolloutStrategy } from "@flotilla/apimachinery/facts/cluster-ocm-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { parseDeadline, parseSoak, sizeOf, UNLIMITED } from "./limits.ts";
import { RolloutError } from "./rollout-error.ts";

export type RolloutState = "ToApply" | "Progressing" | "Succeeded" | "Failed" | "TimeOut" | "Skip";

/** A group of clusters, as identified by the labels of PlacementDecisions. */
export interface DecisionGroup {
  name: string;
  index: number;
  clusters: readonly string[];
}

/** The rollout state of a cluster. */
export interface ClusterRollout {
  cluster: string;
  state: RolloutState;
  /** The start of the state; defaults to now. */
  sinceMs?: number;
}

/** A cluster in the result, with the time at which its state changes without an event. */
export interface PlannedCluster extends ClusterRollout {
  recheckMs?: number;
}

export interface RolloutPlan {
  /** Clusters that are progressing, and those that start now (`ToApply`). */
  toRollout: PlannedCluster[];
  /** Clusters that timed out. */
  timedOut: PlannedCluster[];
  /** Clusters that have the change but are not chosen. */
  removed: ClusterRollout[];
  /** More clusters failed than maxFailures allows, so that no others start. */
  isStopped: boolean;
  recheckAfterMs?: number;
}

type Found = Omit<RolloutPlan, "removed" | "recheckAfterMs">;

interface Timing {
  soakMs: number;
  deadlineMs: number;
  nowMs: number;
}

interface Chosen {
  groups: readonly DecisionGroup[];
  reached: readonly ClusterRollout[];
  timing: Timing;
}

export function planWorksRollout(
  strategy: DeepReadonly<RolloutStrategy>,
  groups: readonly DecisionGroup[],
  existing: readonly ClusterRollout[],
  nowMs: number,
): RolloutPlan {
  const ordered = groups.toSorted((a, b) => a.index - b.index);
  const clusters = new Set(ordered.flatMap((group) => group.clusters));
  const reached = existing.filter(({ cluster }) => clusters.has(cluster));
  const found = follow(strategy, { groups: ordered, reached, nowMs });
  const recheckMs = Math.min(
    ...found.toRollout.flatMap((each) =>
      each.recheckMs !== undefined && each.recheckMs > nowMs ? [each.recheckMs] : [],
    ),
  );
  return {
    ...found,
    removed: existing.filter(({ cluster }) => !clusters.has(cluster)),
    recheckAfterMs: Number.isFinite(recheckMs) ? recheckMs - nowMs : undefined,
  };
}

function follow(
  strategy: DeepReadonly<RolloutStrategy>,
  { groups, reached, nowMs }: { groups: readonly DecisionGroup[]; reached: readonly ClusterRollout[]; nowMs: number },
): Found {
  const total = countClusters(groups);
  switch (strategy.type) {
    case "All": {
      const timing = { soakMs: 0, deadlineMs: parseDeadline(strategy.all?.progressDeadline), nowMs };
      return byCluster({ groups, reached, timing }, { atOnce: total, maxFailures: total });
    }
    case "Progressive": {
      const { progressive = {} } = strategy;
      const timing = timingOf(progressive, nowMs);
      const maxFailures = sizeOf("maxFailures", progressive.maxFailures, total, 0);
      const [mandatory, others] = splitMandatory(groups, progressive.mandatoryDecisionGroups);
      const first = byGroup({ groups: mandatory, reached, timing }, 0);
      if (mandatory.length > 0 && isBusy(first)) return first;
      const rest = countClusters(others);
      return byCluster(
        { groups: others, reached, timing },
        { atOnce: sizeOf("maxConcurrency", progressive.maxConcurrency, rest, rest), maxFailures },
      );
    }
    case "ProgressivePerGroup": {
      const { progressivePerGroup = {} } = strategy;
      const timing = timingOf(progressivePerGroup, nowMs);
      const { maxFailures } = progressivePerGroup;
      sizeOf("maxFailures", maxFailures, total, 0);
      const [mandatory, others] = splitMandatory(groups, progressivePerGroup.mandatoryDecisionGroups);
      const first = byGroup({ groups: mandatory, reached, timing }, 0);
      return mandatory.length > 0 && isBusy(first) ? first : byGroup({ groups: others, reached, timing }, maxFailures);
    }
    default:
      throw new RolloutError(`incorrect rollout strategy type ${strategy.type ?? ""}`);
  }
}

const isBusy = ({ toRollout, timedOut }: Found): boolean => toRollout.length + timedOut.length > 0;
const countClusters = (groups: readonly DecisionGroup[]): number =>
  new Set(groups.flatMap(({ clusters }) => clusters)).size;

function timingOf(
  { minSuccessTime, progressDeadline }: { minSuccessTime?: string; progressDeadline?: string },
  nowMs: number,
): Timing {
  return { soakMs: parseSoak(minSuccessTime), deadlineMs: parseDeadline(progressDeadline), nowMs };
}

/** The mandatory groups, which must succeed first, and the others. A name selects every group of that name. */
function splitMandatory(
  groups: readonly DecisionGroup[],
  wanted: readonly { groupName?: string; groupIndex?: number }[] = [],
): [DecisionGroup[], DecisionGroup[]] {
  const isWanted = ({ name, index }: DecisionGroup): boolean =>
    wanted.some(({ groupName, groupIndex = 0 }) => (groupName ? groupName === name : groupIndex === index));
  return [groups.filter(isWanted), groups.filter((group) => !isWanted(group))];
}

/** Up to maxConcurrency clusters at a time, ordered by name. */
function byCluster(
  { groups, reached, timing }: Chosen,
  { atOnce, maxFailures }: { atOnce: number; maxFailures: number },
): Found {
  const found: Found = { toRollout: [], timedOut: [], isStopped: false };
  const known = new Set<string>();
  let failures = 0;
  for (const each of reached.toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1))) {
    known.add(each.cluster);
    const state = found.isStopped && each.state === "ToApply" ? each.state : classify(each, timing, found);
    if (isFailure(state)) failures += 1;
    found.isStopped = failures > maxFailures;
    if (found.toRollout.length >= atOnce) return found;
  }
  if (found.isStopped) return found;
  const fresh = [...new Set(groups.flatMap(({ clusters }) => clusters))]
    .filter((cluster) => !known.has(cluster))
    .toSorted();
  for (const cluster of fresh.slice(0, atOnce - found.toRollout.length))
    found.toRollout.push({ cluster, state: "ToApply" });
  return found;
}

/** One group after the other, each as a whole. */
function byGroup({ groups, reached, timing }: Chosen, maxFailures: string | number | undefined): Found {
  const found: Found = { toRollout: [], timedOut: [], isStopped: false };
  const states = new Map<string, RolloutState>();
  for (const each of reached) if (each.state !== "ToApply") states.set(each.cluster, classify(each, timing, found));

  /** Failed clusters that may still recover: they are in progress, but do not block others. */
  let recovering = 0;
  for (const { clusters } of groups) {
    const tolerated = sizeOf("maxFailures", maxFailures, clusters.length, 0);
    let failures = 0;
    for (const cluster of clusters.toSorted()) {
      const state = states.get(cluster);
      if (state === undefined) found.toRollout.push({ cluster, state: "ToApply" });
      else if (isFailure(state)) failures += 1;
      if (state === "Failed") recovering += 1;
    }
    found.isStopped = failures > tolerated;
    if (found.isStopped || found.toRollout.length > recovering) return found;
  }
  return found;
}

const isFailure = (state: RolloutState): boolean => state === "Failed" || state === "TimeOut";

/** Adds a cluster to the list for its current status, and returns that status. */
function classify(each: ClusterRollout, { soakMs, deadlineMs, nowMs }: Timing, found: Found): RolloutState {
  const since = each.sinceMs ?? nowMs;
  switch (each.state) {
    case "ToApply":
      found.toRollout.push(each);
      return each.state;
    case "Succeeded":
      if (nowMs < since + soakMs) found.toRollout.push({ ...each, recheckMs: since + soakMs });
      return each.state;
    case "Progressing":
    case "Failed": {
      if (deadlineMs === UNLIMITED) {
        found.toRollout.push(each);
        return each.state;
      }
      const judged = { ...each, recheckMs: since + deadlineMs };
      if (nowMs < judged.recheckMs) {
        found.toRollout.push(judged);
        return each.state;
      }
      found.timedOut.push({ ...judged, state: "TimeOut" });
      return "TimeOut";
    }
    default:
      return each.state;
  }
}
