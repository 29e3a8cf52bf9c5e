/**
 * Scores the nodes that fit: kube-scheduler's default plugins and weights. Every plugin returns 0 to 100. The sum is
 * not rounded, so that two nodes that differ by one small pod still differ; ties are broken by name, which makes runs
 * reproducible.
 */
import type { NodeView } from "./cluster-view.ts";
import type { Rules } from "./filters.ts";
import { matchesTerm, toleratesTaint } from "./node-rules.ts";
import type { PodView } from "./pod-view.ts";

const WEIGHTS = { taints: 3, nodeAffinity: 2, spread: 2, podAffinity: 2, room: 1, balance: 1 } as const;
const BEST = 100;

export function bestNode(pod: PodView, nodes: readonly NodeView[], rules: Rules): NodeView | undefined {
  const [only] = nodes;
  if (nodes.length <= 1) return only;
  const scores = nodes.map((node) => WEIGHTS.room * room(node) + WEIGHTS.balance * balance(node));
  const wishes = pod.pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  if (wishes?.length)
    add(
      scores,
      WEIGHTS.nodeAffinity,
      highIsGood(
        nodes.map(({ node }) =>
          wishes.reduce((sum, { weight, preference }) => sum + (matchesTerm(preference, node) ? weight : 0), 0),
        ),
      ),
    );
  if (nodes.some(({ node }) => node.spec?.taints?.length)) {
    const repelling = nodes.map((node) => repulsion(pod, node));
    if (repelling.some((count) => count > 0)) add(scores, WEIGHTS.taints, lowIsGood(repelling));
  }
  const { spread, affinity } = rules;
  if (spread?.hasCrowd) add(scores, WEIGHTS.spread, lowIsGood(nodes.map((node) => spread.spreadCost(node))));
  if (affinity?.hasScores) add(scores, WEIGHTS.podAffinity, highIsGood(nodes.map((node) => affinity.score(node))));
  // Index loops, here and below: this runs for every node and every pod, and `entries()` would produce most of the
  // garbage.
  let best = 0;
  for (let index = 1; index < scores.length; index++) {
    const ahead = (scores[index] ?? 0) - (scores[best] ?? 0);
    if (ahead > 0 || (ahead === 0 && isBefore(nodes[index], nodes[best]))) best = index;
  }
  return nodes[best];
}

function isBefore(a: NodeView | undefined, b: NodeView | undefined): boolean {
  if (!a || !b) return false;
  return a.load.pods.size === b.load.pods.size ? a.name < b.name : a.load.pods.size < b.load.pods.size;
}

function add(scores: number[], weight: number, parts: readonly number[]): void {
  for (let index = 0; index < parts.length; index++)
    scores[index] = (scores[index] ?? 0) + weight * (parts[index] ?? 0);
}

/** The free share of cpu and memory. */
function room({ allocatable, load }: NodeView): number {
  return (
    ((free(allocatable.get("cpu"), load.weighed.cpu) + free(allocatable.get("memory"), load.weighed.memory)) / 2) * BEST
  );
}

const free = (total = 0, used: number): number => (total <= 0 ? 0 : Math.max(0, total - used) / total);

/** Nodes whose cpu and memory fill up evenly can use more of the remainder. */
function balance({ allocatable, load }: NodeView): number {
  const cpu = free(allocatable.get("cpu"), load.weighed.cpu);
  const memory = free(allocatable.get("memory"), load.weighed.memory);
  return (1 - Math.abs(cpu - memory) / 2) * BEST;
}

/** The number of untolerated PreferNoSchedule taints. */
function repulsion({ pod }: PodView, { node }: NodeView): number {
  return (
    node.spec?.taints?.filter((taint) => taint.effect === "PreferNoSchedule" && !toleratesTaint(pod, taint)).length ?? 0
  );
}

function highIsGood(values: readonly number[]): number[] {
  const { low, high } = rangeOf(values);
  const span = high - low;
  return values.map((value) => (span === 0 ? 0 : ((value - low) / span) * BEST));
}

function lowIsGood(values: readonly number[]): number[] {
  const { low, high } = rangeOf(values);
  return values.map((value) =>
    !Number.isFinite(value) ? 0 : high === 0 ? BEST : ((high + low - value) / high) * BEST,
  );
}

/** The range of the finite values. */
function rangeOf(values: readonly number[]): { low: number; high: number } {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? { low, high } : { low: 0, high: 0 };
}
