/**
 * The checks of a kubelet before it admits a pod: the scheduler has made them for its own pods, but any client may set
 * `nodeName`. Pure over the view of the member.
 */
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { inUnits } from "../amounts.ts";
import type { ClusterView } from "../placement/cluster-view.ts";
import { wantsNode } from "../placement/node-rules.ts";
import { portsCollide } from "../placement/pod-view.ts";
import type { Room } from "./resize.ts";

type ReadonlyPod = DeepReadonly<Pod>;

/** Counts the pods that the node admitted before: other existing pods that have started or were created earlier. */
export function whyRejected(pod: ReadonlyPod, view: ClusterView): { reason: string; message: string } | undefined {
  const place = view.placeOf(pod.metadata.uid ?? "");
  const node = place && view.nodes.get(place.node);
  if (!place || !node) return undefined;
  const own = place.pod;
  const reject = (reason: string, why: string): { reason: string; message: string } => ({
    reason,
    message: `Pod was rejected: ${why}`,
  });
  if (!wantsNode(pod, node.node))
    return reject("NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector");
  if (own.hostPorts.length > 0) {
    for (const other of node.load.withPorts) {
      if (other.uid === own.uid || !other.pod.status?.startTime) continue;
      if (other.hostPorts.some((taken) => own.hostPorts.some((port) => portsCollide(port, taken))))
        return reject(
          "NodePorts",
          "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
        );
    }
  }
  for (const [name, wanted] of own.requests) {
    const total = node.allocatable.get(name) ?? 0;
    if (wanted === 0 || (node.load.used.get(name) ?? 0) <= total) continue;
    let started = 0;
    for (const other of node.load.pods.values())
      if (other.uid !== own.uid && other.pod.status?.startTime) started += other.requests.get(name) ?? 0;
    if (started + wanted > total)
      return reject(
        `OutOf${name}`,
        `Node didn't have enough resource: ${name}, requested: ${inUnits(name, wanted)}, used: ${inUnits(name, started)}, capacity: ${inUnits(name, total)}`,
      );
  }
  return undefined;
}

/** The capacity of the pod's node, and the usage of its other pods. */
export function roomBeside(pod: ReadonlyPod, view: ClusterView): Room | undefined {
  const place = view.placeOf(pod.metadata.uid ?? "");
  const node = place && view.nodes.get(place.node);
  if (!place || !node) return undefined;
  const others = new Map(node.load.used);
  for (const [name, amount] of place.pod.requests) others.set(name, (others.get(name) ?? 0) - amount);
  return { allocatable: node.allocatable, others };
}
