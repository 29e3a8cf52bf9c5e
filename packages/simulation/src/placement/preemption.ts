/**
 * Preemption: chooses the victims and the node for a pod of higher priority. As in kube-scheduler: the fewest violated
 * disruption budgets, then the least important victims, then the fewest.
 *
 * It tests what would fit by removing pods from the view; every pod is back before it returns.
 */
import type { PodDisruptionBudget } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { ClusterView, NodeView } from "./cluster-view.ts";
import { whyNot } from "./filters.ts";
import type { Exclusion, Rules } from "./filters.ts";
import type { PodView } from "./pod-view.ts";

type Budget = DeepReadonly<PodDisruptionBudget>;

export interface Preemption {
  readonly node: string;
  /** Most important first. */
  readonly victims: readonly PodView[];
}

/** The chosen victims; or why the pod may not preempt; or why preemption would not help on any of the tried nodes. */
export type PreemptionOutcome =
  | { preemption: Preemption }
  | { reason: string }
  | { reasons: readonly string[]; tried: number };

export interface PreemptionContext {
  budgets(): readonly Budget[];
  /** The affinity rules for the current state of the view. */
  rulesOf(): Rules;
}

interface Candidate extends Preemption {
  readonly violations: number;
}

/** Trying a node costs one placement for each of its pods; the best of this many candidates is good enough. */
const MAX_CANDIDATES = 100;

export function planPreemption(
  view: ClusterView,
  pod: PodView,
  refusals: ReadonlyMap<NodeView, Exclusion>,
  context: PreemptionContext,
): PreemptionOutcome {
  if (pod.pod.spec.preemptionPolicy === "Never") return { reason: "not eligible due to preemptionPolicy=Never." };
  if (awaitsVictims(view, pod, refusals))
    return { reason: "not eligible due to a terminating pod on the nominated node." };
  const reasons: string[] = [];
  let tried = 0;
  const candidates: Candidate[] = [];
  let budgets: readonly Budget[] | undefined;
  // Usually all pods have the same priority. Then no pods are scanned, however many wait.
  const hasLesser = view.hasLesser(pod.priority);
  for (const [node, { isFinal }] of refusals) {
    if (isFinal) continue;
    if (candidates.length === MAX_CANDIDATES) break;
    tried++;
    const lesser = hasLesser ? [...node.load.pods.values()].filter(({ priority }) => priority < pod.priority) : [];
    if (lesser.length === 0) {
      reasons.push("No preemption victims found for incoming pod");
      continue;
    }
    const found = victimsOn(view, pod, node, lesser, (budgets ??= context.budgets()), context.rulesOf);
    if ("reasons" in found) reasons.push(...found.reasons);
    else candidates.push(found);
  }
  const [best] = candidates.sort(byDamage);
  return best ? { preemption: { node: best.node, victims: best.victims } } : { reasons, tried };
}

/** Victims of an earlier preemption are still terminating. */
function awaitsVictims(
  view: ClusterView,
  { pod, priority }: PodView,
  refusals: ReadonlyMap<NodeView, Exclusion>,
): boolean {
  const node = view.nodes.get(pod.status?.nominatedNodeName ?? "");
  if (!node || refusals.get(node)?.isFinal) return false;
  for (const other of node.load.pods.values()) {
    const { metadata, status } = other.pod;
    if (
      other.priority < priority &&
      metadata.deletionTimestamp &&
      status?.conditions?.some(({ type, reason }) => type === "DisruptionTarget" && reason === "PreemptionByScheduler")
    )
      return true;
  }
  return false;
}

function victimsOn(
  view: ClusterView,
  pod: PodView,
  { name }: NodeView,
  lesser: readonly PodView[],
  budgets: readonly Budget[],
  rulesOf: () => Rules,
): Candidate | Exclusion {
  const refusal = (): Exclusion | undefined => {
    const node = view.nodes.get(name);
    return node ? whyNot(pod, node, rulesOf()) : undefined;
  };
  for (const { uid } of lesser) view.lift(uid);
  try {
    const without = refusal();
    if (without) return without;
    const { violating, others } = byBudget([...lesser].sort(byImportance), budgets);
    const victims: PodView[] = [];
    const stays = (candidate: PodView): boolean => {
      view.put(candidate, name);
      if (!refusal()) return true;
      view.lift(candidate.uid);
      victims.push(candidate);
      return false;
    };
    const violations = violating.filter((candidate) => !stays(candidate)).length;
    for (const candidate of others) stays(candidate);
    return { node: name, victims: victims.sort(byImportance), violations };
  } finally {
    for (const candidate of lesser) view.put(candidate, name);
  }
}

const startOf = ({ pod }: PodView): string => pod.status?.startTime ?? pod.metadata.creationTimestamp ?? "";

/** Higher priority first, then the longer-running pod. */
function byImportance(a: PodView, b: PodView): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const [first, second] = [startOf(a), startOf(b)];
  return first === second ? (a.uid < b.uid ? -1 : 1) : first < second ? -1 : 1;
}

function byDamage(a: Candidate, b: Candidate): number {
  const highest = ({ victims }: Candidate): number => victims[0]?.priority ?? 0;
  // Priorities may be negative; the offset from the lowest makes more victims never look better.
  const sum = ({ victims }: Candidate): number =>
    victims.reduce((total, { priority }) => total + priority + 2 ** 31, 0);
  const latest = ({ victims }: Candidate): string =>
    victims
      .filter(({ priority }) => priority === victims[0]?.priority)
      .reduce((earliest, victim) => (earliest === "" || startOf(victim) < earliest ? startOf(victim) : earliest), "");
  const order =
    a.violations - b.violations || highest(a) - highest(b) || sum(a) - sum(b) || a.victims.length - b.victims.length;
  if (order !== 0) return order;
  if (latest(a) !== latest(b)) return latest(a) > latest(b) ? -1 : 1;
  return a.node < b.node ? -1 : 1;
}

/** Pods whose removal violates a disruption budget, and the others. */
function byBudget(pods: readonly PodView[], budgets: readonly Budget[]): { violating: PodView[]; others: PodView[] } {
  const left = budgets.map(({ metadata, spec, status }) => ({
    namespace: metadata.namespace,
    selector: labelSelectorOf(spec?.selector),
    allowed: status?.disruptionsAllowed ?? 0,
    disrupted: status?.disruptedPods ?? {},
  }));
  const violating: PodView[] = [];
  const others: PodView[] = [];
  for (const pod of pods) {
    let isViolated = false;
    for (const budget of left) {
      const { labels = {}, name } = pod.pod.metadata;
      const covers =
        budget.namespace === pod.namespace &&
        budget.selector.requirements.length > 0 &&
        Object.keys(labels).length > 0 &&
        matchesLabels(budget.selector, labels);
      // A disruption that was already granted does not count again.
      if (!covers || Object.hasOwn(budget.disrupted, name)) continue;
      budget.allowed--;
      isViolated ||= budget.allowed < 0;
    }
    (isViolated ? violating : others).push(pod);
  }
  return { violating, others };
}
