/**
 * Chooses the pods that a CloneSet deletes on scale-down: the least useful first, and among equals those on crowded
 * nodes or topology domains.
 *
 * Reads: the active pods; the nodes of their cluster for topology spread constraints. Writes nothing.
 */
import {
  cheaperFirst,
  inOrder,
  newestFirst,
  pendingFirst,
  recentlyReadyFirst,
  restartedFirst,
  unassignedFirst,
  unreadyFirst,
  HOSTNAME_LABEL,
} from "@flotilla/kubernetes";
import type { Node, PodRule, ReadonlyPod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { isPodAvailable } from "./cloneset-pod-state.ts";
import type { ReadonlyCloneSet } from "./cloneset-pod-state.ts";

/** Looks up a node of the CloneSet's cluster by name. */
export type NodeLookup = (name: string) => DeepReadonly<Node> | undefined;

export interface VictimQuery {
  cloneSet: ReadonlyCloneSet;
  pods: readonly ReadonlyPod[];
  isUpdated(pod: ReadonlyPod): boolean;
  /** How many to delete, and how many of these should be of an old revision. */
  total: number;
  fromOld: number;
  nodeOf: NodeLookup;
  nowMs: number;
}

/** In deletion order. Pods of a group keep their order if the whole group is deleted. */
export function chooseVictims(query: VictimQuery): ReadonlyPod[] {
  const { pods, isUpdated, total, fromOld } = query;
  const updated = pods.filter((pod) => isUpdated(pod));
  const old = pods.filter((pod) => !isUpdated(pod));
  if (fromOld >= total) return chooseFrom(old, total, query);
  if (fromOld > 0) return [...chooseFrom(old, fromOld, query), ...chooseFrom(updated, total - fromOld, query)];
  return chooseFrom(updated, total, query);
}

type Ranks = ReadonlyMap<string, number>;

function chooseFrom(
  pods: readonly ReadonlyPod[],
  count: number,
  { cloneSet, nodeOf, nowMs }: VictimQuery,
): ReadonlyPod[] {
  if (count >= pods.length) return [...pods];
  const minReadySeconds = cloneSet.spec.minReadySeconds ?? 0;
  const unavailableFirst: PodRule = (a, b) =>
    Number(isPodAvailable(a, minReadySeconds, nowMs)) - Number(isPodAvailable(b, minReadySeconds, nowMs));
  const keys = cloneSet.spec.template.spec?.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey) ?? [];
  const ranks = keys.length > 0 ? spreadRanks(pods, keys, nodeOf) : sameNodeRanks(pods);
  const order = inOrder(unassignedFirst, pendingFirst, unavailableFirst, ...orderWithin(ranks));
  return pods.toSorted(order).slice(0, count);
}

/** The rules that also order pods inside a node or domain, where availability is ignored. */
function orderWithin(ranks: Ranks): PodRule[] {
  return [unreadyFirst, cheaperFirst, higherRankFirst(ranks), recentlyReadyFirst, restartedFirst, newestFirst];
}

const uidOf = ({ metadata }: ReadonlyPod): string => metadata.uid ?? metadata.name;
const higherRankFirst =
  (ranks: Ranks): PodRule =>
  (a, b) =>
    (ranks.get(uidOf(b)) ?? 0) - (ranks.get(uidOf(a)) ?? 0);
const NO_RANKS: Ranks = new Map();
const withinGroup = (ranks: Ranks): PodRule => inOrder(unassignedFirst, pendingFirst, ...orderWithin(ranks));

/** On a node with several pods all but the most useful one get a rank, so that the set shrinks evenly. */
function sameNodeRanks(pods: readonly ReadonlyPod[]): Ranks {
  const ranks = new Map<string, number>();
  for (const [node, group] of Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? "")) {
    if (node === "" || group.length < 2) continue;
    group.toSorted(withinGroup(NO_RANKS)).forEach((pod, index) => ranks.set(uidOf(pod), group.length - 1 - index));
  }
  return ranks;
}

/**
 * Every constraint adds weight to the pods of crowded domains; more domains weigh more, as in the scheduler's own
 * score.
 */
function spreadRanks(pods: readonly ReadonlyPod[], topologyKeys: readonly string[], nodeOf: NodeLookup): Ranks {
  const ranks = new Map<string, number>();
  const onNode = sameNodeRanks(pods);
  for (const key of topologyKeys) {
    const domainOf = ({ spec }: ReadonlyPod): string | undefined =>
      spec?.nodeName ? nodeOf(spec.nodeName)?.metadata.labels?.[key] : undefined;
    const placed = pods.filter((pod) => domainOf(pod) !== undefined);
    const domains = Map.groupBy(placed, domainOf);
    const weight = Math.log(domains.size + 2);
    const order = withinGroup(key === HOSTNAME_LABEL ? NO_RANKS : onNode);
    for (const group of domains.values()) {
      group
        .toSorted(order)
        .forEach((pod, index) => ranks.set(uidOf(pod), (ranks.get(uidOf(pod)) ?? 0) + (group.length - index) * weight));
    }
  }
  return ranks;
}
