/**
 * Chooses a node for a pod: the best of the nodes that fit, or kube-scheduler's reason why none does. Pure over the
 * view, except that preemption removes pods temporarily and puts them back.
 */
import type { PodDisruptionBudget } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { fnv1a32 } from "@flotilla/apimachinery";
import type { ClusterView, NodeView } from "./cluster-view.ts";
import { whyNot } from "./filters.ts";
import type { Exclusion, Rules } from "./filters.ts";
import { namedNodes } from "./node-rules.ts";
import { affinityRules } from "./pod-affinity.ts";
import type { NamespaceLabels } from "./pod-affinity.ts";
import type { PodView } from "./pod-view.ts";
import { planPreemption } from "./preemption.ts";
import type { Preemption } from "./preemption.ts";
import { bestNode } from "./scores.ts";
import { spreadRules } from "./spread.ts";
import type { VolumeNeeds } from "./volume-needs.ts";

export type Verdict = { node: string } | { unschedulable: string; preemption?: Preemption };

export interface Environment {
  /** Called only if a rule selects namespaces by label. */
  namespaces(): NamespaceLabels;
  /** Called only if preemption is needed. */
  budgets(): readonly DeepReadonly<PodDisruptionBudget>[];
  /** Requirements of the pod's volumes. */
  volumes: VolumeNeeds;
}

/** Enough to find a good node; in larger clusters checking every node for every pod would take too long. */
const MIN_FEASIBLE = 100;
const PERCENT_OF_LARGE = 10;

export function planNode(view: ClusterView, pod: PodView, around: Environment): Verdict {
  const { volumes } = around;
  const total = view.nodes.size;
  const anonymous = (why: string): Verdict => ({
    unschedulable: `0/${total} nodes are available: ${why}. ${notHelpful(total)}`,
  });
  if (volumes.problem !== undefined) return anonymous(volumes.problem);
  const rules = rulesOf(view, pod, around);
  const named = namedNodes(pod.pod);
  const refusals = new Map<NodeView, Exclusion>();
  const fitting = [...fittingNodes(view, pod, rules, named, volumes.preferred, refusals)];
  const chosen = volumes.preferred === undefined ? undefined : fitting.find(({ name }) => name === volumes.preferred);
  const nominated = fitting.find(({ name }) => name === pod.pod.status?.nominatedNodeName);
  const best = chosen ?? nominated ?? bestNode(pod, fitting, rules);
  if (best) return { node: best.name };

  // Nodes that the pod's affinity does not name are not checked; kube-scheduler reports this reason for them.
  const unnamed = total - refusals.size;
  const why = histogram([
    ...refusals.values().flatMap(({ reasons }) => reasons),
    ...Array.from({ length: unnamed }, () => "node(s) didn't satisfy plugin(s) [NodeAffinity]"),
  ]);
  const message = `0/${total} nodes are available: ${why}.`;
  const outcome = planPreemption(view, pod, refusals, {
    budgets: around.budgets,
    rulesOf: () => rulesOf(view, pod, around),
  });
  if ("preemption" in outcome) return { unschedulable: message, preemption: outcome.preemption };
  return {
    unschedulable: `${message} ${"reason" in outcome ? `preemption: ${outcome.reason}` : notHelpful(total, outcome.reasons, outcome.tried)}`,
  };
}

function rulesOf(view: ClusterView, pod: PodView, { namespaces, volumes }: Environment): Rules {
  return { affinity: affinityRules(view, pod, namespaces), spread: spreadRules(view, pod), volumes: volumes.refuse };
}

/**
 * Stops early in large clusters, with a start index from the pod's UID, so that not all pods start at the same node.
 */
function* fittingNodes(
  view: ClusterView,
  pod: PodView,
  rules: Rules,
  named: ReadonlySet<string> | undefined,
  preferred: string | undefined,
  refusals: Map<NodeView, Exclusion>,
): Generator<NodeView> {
  const candidates = named ? [...named].flatMap((name) => view.nodes.get(name) ?? []) : [...view.nodes.values()];
  const enough =
    candidates.length <= MIN_FEASIBLE || preferred !== undefined
      ? candidates.length
      : Math.max(MIN_FEASIBLE, Math.ceil((candidates.length * PERCENT_OF_LARGE) / 100));
  const start = enough === candidates.length ? 0 : fnv1a32(pod.uid) % candidates.length;
  let found = 0;
  for (let index = 0; index < candidates.length && found < enough; index++) {
    const node = candidates[(start + index) % candidates.length];
    if (!node) continue;
    const refusal = whyNot(pod, node, rules);
    if (refusal) refusals.set(node, refusal);
    else {
      found++;
      yield node;
    }
  }
}

/** `1 Insufficient cpu, 2 node(s) were unschedulable`: sorted as text, as upstream does. */
function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return Array.from(counts, ([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(", ");
}

/**
 * The preemption part of the message if preemption cannot help either; `reasons` are those of the tried nodes, several
 * per node.
 */
function notHelpful(total: number, reasons: readonly string[] = [], tried = 0): string {
  const rest = Array.from({ length: total - tried }, () => "Preemption is not helpful for scheduling");
  return `preemption: 0/${total} nodes are available: ${histogram([...reasons, ...rest])}.`;
}
