/**
 * Counts a member's free nodes by size: every node counts for the highest grade of which it has enough of every
 * resource. The scheduler estimates with these counts, because a sum over all nodes would promise room that no single
 * node has. Pure.
 *
 * Karmada stops counting at the first node without a free pod slot; here such a node is skipped and the others are
 * counted.
 */
import type { Cluster } from "@flotilla/karmada";
import type { Node, Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import {
  compareQuantities,
  findCondition,
  parseQuantity,
  quantityOfMilli,
  subtractQuantities,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { Quantity } from "@flotilla/apimachinery";
import { addTo, addTotals, amountOf, requestOf } from "./resources.ts";
import type { Totals } from "./resources.ts";

type Models = NonNullable<Cluster["spec"]["resourceModels"]>;
type Modelings = NonNullable<NonNullable<NonNullable<Cluster["status"]>["resourceSummary"]>["allocatableModelings"]>;

const ZERO = parseQuantity("0");

/** One count per grade, in the order of the models; undefined when the cluster has none. */
export function planAllocatableModelings(
  models: DeepReadonly<Models> | undefined,
  nodes: readonly DeepReadonly<Node>[],
  pods: readonly DeepReadonly<Pod>[],
): Modelings | undefined {
  if (!models || models.length === 0) return undefined;
  const [first] = models;
  // Grades are comparable only if all name the same resources; admission ensures that.
  if (models.some(({ ranges }) => ranges.length !== first?.ranges.length)) return undefined;
  // Per resource the minimum of each grade; grades ascend, so each list does too.
  const scales = (first?.ranges ?? []).map(({ name }) => ({
    name,
    least: models.map(
      ({ ranges }) => tryParseQuantity(ranges.find((range) => range.name === name)?.min ?? "0") ?? ZERO,
    ),
  }));
  const used = usedByNode(pods);
  const counts = models.map(() => 0);
  for (const node of nodes) {
    if (!takesPods(node)) continue;
    const free = freeOn(node, used.get(node.metadata.name));
    if (!free) continue;
    const grade = Math.min(...scales.map(({ name, least }) => lastWithin(least, free(name))));
    if (grade >= 0 && grade < counts.length) counts[grade] = (counts[grade] ?? 0) + 1;
  }
  return models.map(({ grade }, index) => ({ grade, count: counts[index] ?? 0 }));
}

/** A cordoned or unhealthy node has no room, regardless of its usage. */
function takesPods({ spec, status }: DeepReadonly<Node>): boolean {
  const ready = findCondition(status?.conditions ?? [], "Ready");
  return !spec?.unschedulable && (ready === undefined || ready.status === "True");
}

/** Finished pods hold no resources, as in kube-scheduler. */
export function occupies({ spec, status }: DeepReadonly<Pod>): boolean {
  return Boolean(spec.nodeName) && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

function usedByNode(pods: readonly DeepReadonly<Pod>[]): Map<string, Totals> {
  const used = new Map<string, Totals>();
  for (const pod of pods) {
    const node = pod.spec.nodeName;
    if (!node || !occupies(pod)) continue;
    let totals = used.get(node);
    if (!totals) used.set(node, (totals = new Map()));
    addTotals(totals, requestOf(pod));
    addTo(totals, "pods", 1n);
  }
  return used;
}

/** The free amount of a resource on a node; undefined when no more pods fit. */
function freeOn(
  { status }: DeepReadonly<Node>,
  used: Totals | undefined,
): ((resource: string) => Quantity) | undefined {
  const allocatable = status?.allocatable ?? {};
  if (used && amountOf("pods", allocatable["pods"] ?? "0") - (used.get("pods") ?? 0n) <= 0n) return undefined;
  return (resource) => {
    const whole = tryParseQuantity(allocatable[resource] ?? "0") ?? ZERO;
    const taken = used?.get(resource) ?? 0n;
    // Pod requests do not make a resource negative that the node does not have.
    if (taken === 0n || allocatable[resource] === undefined) return whole;
    return subtractQuantities(whole, quantityOfMilli(resource === "cpu" ? taken : taken * 1000n));
  };
}

/** The index of the last bound that `amount` reaches; -1 when it reaches none. */
function lastWithin(bounds: readonly Quantity[], amount: Quantity): number {
  let low = 0;
  let high = bounds.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const bound = bounds[middle];
    if (bound && compareQuantities(bound, amount) <= 0) low = middle + 1;
    else high = middle - 1;
  }
  return high;
}
