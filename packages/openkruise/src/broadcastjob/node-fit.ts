/**
 * The nodes that fit the pods of a BroadcastJob: by name, selectors, taints, and the capacity of the empty node. Pure.
 */
import { containerTotals, matchesNode as wantsNode, toleratesTaint, UNSCHEDULABLE_TAINT } from "@flotilla/kubernetes";
import type { Node, ReadonlyPod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { addQuantities, compareQuantities, parseQuantity, tryParseQuantity } from "@flotilla/apimachinery";
import type { Quantity } from "@flotilla/apimachinery";

export type ReadonlyNode = DeepReadonly<Node>;
type Spec = Pick<ReadonlyPod, "spec">;

const ZERO = parseQuantity("0");
const ONE = parseQuantity("1");
const UNSCHEDULABLE = { key: UNSCHEDULABLE_TAINT, effect: "NoSchedule" } as const;

/** Whether an existing pod may stay on this node. */
export function fitsNode(pod: Spec, node: ReadonlyNode): boolean {
  const { nodeName } = pod.spec;
  return (!nodeName || nodeName === node.metadata.name) && couldRunOn(pod, node);
}

/**
 * Whether a pod could run on this node, whatever its nodeName. Other pods on the node do not matter: the pod would wait
 * for them.
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

/** A template is checked against every node, and pods and nodes in an informer are immutable. */
const requests = new WeakMap<Spec["spec"], ReadonlyMap<string, Quantity>>();

/** The total requests of the containers, without those that are zero. */
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

/** The total capacity of the node per resource. */
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
