/**
 * Resource summary of a Cluster's status: allocatable, allocated by running pods, and allocating for pending pods.
 * Pure.
 */
import type { Cluster } from "@flotilla/karmada";
import type { Node, Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { addQuantities, formatQuantity, isConditionTrue, tryParseQuantity } from "@flotilla/apimachinery";
import type { Quantity } from "@flotilla/apimachinery";
import { occupies, planAllocatableModelings } from "./modeling.ts";
import { addTo, addTotals, requestOf, resourceListOf } from "./resources.ts";
import type { Totals } from "./resources.ts";

type Status = NonNullable<Cluster["status"]>;

/** The collected resources of a member at one moment. */
export interface Capacity {
  nodeSummary: NonNullable<Status["nodeSummary"]>;
  resourceSummary: NonNullable<Status["resourceSummary"]>;
}

export function planCapacity(
  models: DeepReadonly<Cluster>["spec"]["resourceModels"],
  nodes: readonly DeepReadonly<Node>[],
  pods: readonly DeepReadonly<Pod>[],
): Capacity {
  const allocated: Totals = new Map();
  const allocating: Totals = new Map();
  for (const pod of pods) {
    const totals = occupies(pod) ? allocated : pod.spec.nodeName ? undefined : allocating;
    if (!totals) continue;
    addTotals(totals, requestOf(pod));
    addTo(totals, "pods", 1n);
  }
  const allocatable = allocatableOf(nodes);
  const [held, asked] = [resourceListOf(allocated), resourceListOf(allocating)];
  const modelings = planAllocatableModelings(models, nodes, pods);
  return {
    nodeSummary: summariseNodes(nodes),
    resourceSummary: { allocatable, allocating: asked, allocated: held, allocatableModelings: modelings },
  };
}

/** A count of zero is omitted, as the server omits it: writing it would look like a change forever. */
function summariseNodes(nodes: readonly DeepReadonly<Node>[]): Capacity["nodeSummary"] {
  const readyNum = nodes.filter(({ status }) => isConditionTrue(status?.conditions ?? [], "Ready")).length;
  return { totalNum: nodes.length > 0 ? nodes.length : undefined, readyNum: readyNum > 0 ? readyNum : undefined };
}

/** All nodes, including those that accept no pods at the moment: this is capacity, not free space. */
function allocatableOf(nodes: readonly DeepReadonly<Node>[]): Record<string, string> | undefined {
  const sums = new Map<string, Quantity>();
  for (const { status } of nodes) {
    for (const [name, text] of Object.entries(status?.allocatable ?? {})) {
      const quantity = tryParseQuantity(text);
      const sum = sums.get(name);
      if (quantity) sums.set(name, sum ? addQuantities(sum, quantity) : quantity);
    }
  }
  if (sums.size === 0) return undefined;
  return Object.fromEntries(
    Array.from(sums, ([name, sum]) => [name, formatQuantity(sum)] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
