/**
 * Estimates how many more replicas of a workload fit a member, from its Cluster object.
 *
 * By node when the member reports node grades, because a replica cannot use the free space of several nodes; otherwise
 * by the sum over all nodes. Pure; the cost of a call is proportional to the requested resources.
 */
import { readAmounts, type Amounts, type ResourceList } from "./amounts.ts";
import type { Capacity, NodeGroup } from "./capacity.ts";

/** The request of one replica, parsed once per binding: resource and amount, without zero amounts. */
export type Request = readonly (readonly [name: string, amount: number])[];

/** Replica counts are 32 bits wide. */
export const MOST_REPLICAS = 2 ** 31 - 1;

/** Undefined when the workload has no requirements at all, which differs from an empty request. */
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

/** A resource that the member lacks fits no replica that requests it. */
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

/** The amounts of a node are its free ones; they include `pods`, and every replica takes one. */
export function fitOnNode(free: Amounts, request: Request): number {
  let most = free.get("pods") ?? 0;
  for (const [name, amount] of request) {
    if (isCountedOnNodes(name)) most = Math.min(most, Math.floor((free.get(name) ?? 0) / amount));
  }
  return Math.max(0, most);
}

const NATIVE: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** Resources that a kubelet accounts for by node. Others, such as a quota's `requests.cpu`, do not concern nodes. */
function isCountedOnNodes(name: string): boolean {
  if (NATIVE.has(name) || name.startsWith("hugepages-") || name.startsWith("attachable-volumes-")) return true;
  return name.includes("/") && !name.startsWith("requests.");
}
