/**
 * How many replicas of a workload fit a member besides what runs there, from what its Cluster object says.
 *
 * By node when the member reports grades of nodes: replicas do not spread over the free ends of several nodes.
 * Otherwise by the sum over all nodes. Pure; one call costs the requested resources.
 */
import { readAmounts, type Amounts, type ResourceList } from "./amounts.ts";
import type { Capacity, NodeGroup } from "./capacity.ts";

/** What one replica asks for, read once per binding: resource and amount, without those of which it asks nothing. */
export type Request = readonly (readonly [name: string, amount: number])[];

/** Replica counts are 32 bits wide. */
export const MOST_REPLICAS = 2 ** 31 - 1;

/** Undefined when the workload states no requirements at all, which is not the same as asking for nothing. */
export function readRequest(
  requirements: { readonly resourceRequest?: ResourceList | undefined } | undefined,
): Request | undefined {
  return requirements && [...readAmounts(requirements.resourceRequest)].filter(([, amount]) => amount > 0);
}

export function estimateReplicas(capacity: Capacity | undefined, request: Request | undefined): number {
  if (!capacity || capacity.pods <= 0) return 0;
  const bound = Math.min(capacity.pods, MOST_REPLICAS);
  if (!request) return bound;
  return Math.min(bound, capacity.nodes ? fitOnNodes(capacity.nodes, request) : fitOnAll(capacity.free, request));
}

/** A resource that the member does not have fits no replica that asks for it. */
function fitOnAll(free: Amounts, request: Request): number {
  let most = Infinity;
  for (const [name, amount] of request) {
    const left = free.get(name) ?? 0;
    if (left <= 0) return 0;
    most = Math.min(most, Math.floor(left / amount));
  }
  return most;
}

function fitOnNodes(nodes: readonly NodeGroup[], request: Request): number {
  let sum = 0;
  for (const { count, free } of nodes) sum += count * fitOnNode(free, request);
  return sum;
}

/** The amounts of a node are its free ones; `pods` is among them and every replica takes one. */
export function fitOnNode(free: Amounts, request: Request): number {
  let most = free.get("pods") ?? 0;
  for (const [name, amount] of request) {
    if (isCountedOnNodes(name)) most = Math.min(most, Math.floor((free.get(name) ?? 0) / amount));
  }
  return Math.max(0, most);
}

const NATIVE: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** Names that a kubelet accounts for by node. Others, such as a quota's `requests.cpu`, say nothing about nodes. */
export function isCountedOnNodes(name: string): boolean {
  if (NATIVE.has(name) || name.startsWith("hugepages-") || name.startsWith("attachable-volumes-")) return true;
  return name.includes("/") && !name.startsWith("requests.");
}
