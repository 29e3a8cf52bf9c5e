/** Where the pods of a BroadcastJob can run: by name, selectors, taints, and what an empty node has. Pure. */
import { containerTotals, toleratesTaint, wantsNode } from "../../../api/index.ts";
import type { Node } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { addQuantities, compareQuantities, parseQuantity, tryParseQuantity } from "../../../machinery/index.ts";
import type { Quantity } from "../../../machinery/index.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";

export type ReadonlyNode = DeepReadonly<Node>;
type Spec = Pick<ReadonlyPod, "spec">;

const ZERO = parseQuantity("0");
const ONE = parseQuantity("1");
const UNSCHEDULABLE = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const;

/** Whether a pod that is there may stay on this node. */
export function fitsNode(pod: Spec, node: ReadonlyNode): boolean {
  const { nodeName } = pod.spec;
  return (!nodeName || nodeName === node.metadata.name) && couldRunOn(pod, node);
}

/**
 * Whether a pod could be on this node, whichever it names. What else runs there does not matter: the pod would wait for
 * it.
 */
export function couldRunOn(pod: Spec, node: ReadonlyNode): boolean {
  if (!wantsNode(pod, node)) return false;
  const isRefused =
    node.spec?.taints?.some((taint) => taint.effect !== "PreferNoSchedule" && !toleratesTaint(pod, taint)) ?? false;
  if (isRefused || (node.spec?.unschedulable && !toleratesTaint(pod, UNSCHEDULABLE))) return false;
  const room = roomOn(node);
  if (compareQuantities(room("pods"), ONE) < 0) return false;
  for (const [name, amount] of requestsOf(pod)) if (compareQuantities(amount, room(name)) > 0) return false;
  return true;
}

/** A template is held against every node, and pods and nodes that an informer holds never change. */
const requests = new WeakMap<Spec["spec"], ReadonlyMap<string, Quantity>>();

/** What the containers ask for together; what is not more than nothing is left out. */
function requestsOf({ spec }: Spec): ReadonlyMap<string, Quantity> {
  let known = requests.get(spec);
  if (!known) {
    const total = new Map(Object.entries(containerTotals(spec, "requests")));
    for (const [name, amount] of Object.entries(spec.resources?.requests ?? {})) total.set(name, parseQuantity(amount));
    for (const [name, amount] of Object.entries(spec.overhead ?? {}))
      total.set(name, addQuantities(total.get(name) ?? ZERO, parseQuantity(amount)));
    requests.set(spec, (known = new Map([...total].filter(([, amount]) => compareQuantities(amount, ZERO) > 0))));
  }
  return known;
}

const rooms = new WeakMap<ReadonlyNode, Map<string, Quantity>>();

/** What the node has of a resource in all. */
function roomOn(node: ReadonlyNode): (name: string) => Quantity {
  let known = rooms.get(node);
  if (!known)
    rooms.set(
      node,
      (known = new Map(
        Object.entries(node.status?.allocatable ?? {}).map(([name, amount]) => [
          name,
          tryParseQuantity(amount) ?? ZERO,
        ]),
      )),
    );
  return (name) => known.get(name) ?? ZERO;
}
