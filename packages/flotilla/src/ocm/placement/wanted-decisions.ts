/** The desired PlacementDecisions of a Placement, next to the existing ones. Pure. */
import { DECISION_GROUP_INDEX_LABEL, DECISION_GROUP_NAME_LABEL } from "@flotilla/ocm";
import type { OcmPlacement, PlacementDecision, PlacementDecisionStatus } from "@flotilla/ocm";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { parseDuration } from "@flotilla/cel";
import type { PlannedDecision } from "./decision-groups.ts";
import { isByScore, type PlacementPlan } from "./plan-placement.ts";

type Placement = DeepReadonly<OcmPlacement>;
type Decision = DeepReadonly<PlacementDecision>;

export interface WantedDecision {
  planned: PlannedDecision;
  /** Undefined for a new decision. */
  before: Decision | undefined;
  status: PlacementDecisionStatus;
  /** Its clusters are not final: it is written a second time. */
  isInterim?: true;
}

const DEFAULT_LIMIT_MS = 60_000;
const NANOS_PER_MS = 1_000_000n;

export function wantedDecisions(
  placement: Placement,
  plan: PlacementPlan,
  before: ReadonlyMap<string, Decision>,
): WantedDecision[] {
  const isScored = isByScore(placement);
  const planned = plan.isKept && before.size > 0 ? keptDecisions([...before.values()], plan) : plan.decisions;
  return planned.map((each) => ({
    planned: each,
    before: before.get(each.name),
    status: {
      decisions: each.clusters.map((clusterName) => ({
        clusterName,
        reason: "",
        score: isScored ? (plan.record.scores.get(clusterName) ?? 0) : undefined,
      })),
    },
  }));
}

export const isWritten = ({ before, status }: Pick<WantedDecision, "before" | "status">): boolean =>
  before?.status !== undefined && equalJson(before.status, status);

/**
 * The write order of decisions; those of one step are written in parallel. A cluster that moves is added to its new
 * decision before it is removed from the old one. Otherwise a reader would see it deselected in between and remove its
 * workloads.
 */
export function writeSteps(wanted: readonly WantedDecision[]): WantedDecision[][] {
  const decisionOf = new Map(
    wanted.flatMap(({ planned }) => planned.clusters.map((cluster): [string, string] => [cluster, planned.name])),
  );
  const [first, second]: [WantedDecision[], WantedDecision[]] = [[], []];
  for (const decision of wanted) {
    const { planned, before, status } = decision;
    const held = before?.status?.decisions ?? [];
    const moving = held.filter(
      ({ clusterName }) => decisionOf.has(clusterName) && decisionOf.get(clusterName) !== planned.name,
    );
    if (moving.length === 0) {
      first.push(decision);
      continue;
    }
    const known = new Set(held.map(({ clusterName }) => clusterName));
    if (planned.clusters.some((cluster) => !known.has(cluster)))
      first.push({ ...decision, status: { decisions: [...status.decisions, ...moving] }, isInterim: true });
    second.push(decision);
  }
  return second.length > 0 ? [first, second] : [first];
}

/** Decisions of a misconfigured Placement keep their groups and lose the clusters it may no longer choose. */
function keptDecisions(before: readonly Decision[], plan: PlacementPlan): PlannedDecision[] {
  const chosen = new Set(plan.chosen);
  return before.map(({ metadata: { name, labels = {} }, status }) => ({
    name,
    groupName: labels[DECISION_GROUP_NAME_LABEL] ?? "",
    groupIndex: Number(labels[DECISION_GROUP_INDEX_LABEL] ?? 0),
    clusters: (status?.decisions ?? []).map(({ clusterName }) => clusterName).filter((cluster) => chosen.has(cluster)),
  }));
}

/**
 * How long score-only changes of the same clusters have to wait because of `scoreRateLimit`: scores change with every
 * decision of any Placement, and watchers of decisions do not need each change. 0 means no wait, as when the chosen
 * clusters change.
 */
export function scoreWaitMs(
  { spec, status }: Placement,
  wanted: readonly WantedDecision[],
  present: number,
  nowMs: number,
): number {
  const last = status?.lastScoreUpdateTime;
  if (last === undefined || present !== wanted.length) return 0;
  const isSame = equalJson(
    namesOf(wanted.map(({ before }) => before?.status)),
    namesOf(wanted.map(({ status: next }) => next)),
  );
  if (!isSame) return 0;
  const limit = parseDuration(spec.scoreRateLimit ?? "");
  return Math.max(0, Date.parse(last) + (limit ? Number(limit.nanos / NANOS_PER_MS) : DEFAULT_LIMIT_MS) - nowMs);
}

const namesOf = (statuses: readonly (DeepReadonly<PlacementDecisionStatus> | undefined)[]): string[] =>
  statuses.flatMap((status) => (status?.decisions ?? []).map(({ clusterName }) => clusterName)).toSorted();
