/**
 * Estimates how many complete sets of a multi-component workload fit a member: a set has all replicas of every
 * component. Used when such a workload is placed on one cluster as a whole. Pure.
 */
import type { ResourceBindingSpec } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { Capacity, NodeGroup } from "./capacity.ts";
import { fitOnNode, MOST_REPLICAS, readRequest, type Request } from "./estimate-replicas.ts";

/** A parsed component: its replicas in one set, and the request of each. */
interface Part {
  readonly replicas: number;
  readonly request: Request;
}

/** Read once per binding. */
export interface ComponentSet {
  readonly parts: readonly Part[];
  readonly pods: number;
  /** The request of one set, over all its replicas. */
  readonly request: Request;
}

export function readComponentSet(
  components: DeepReadonly<NonNullable<ResourceBindingSpec["components"]>>,
): ComponentSet {
  const parts = components.map(({ replicas, replicaRequirements }): Part => ({
    replicas,
    request: readRequest(replicaRequirements) ?? [],
  }));
  const sums = new Map<string, number>();
  for (const { replicas, request } of parts)
    for (const [name, amount] of request) sums.set(name, (sums.get(name) ?? 0) + amount * replicas);
  return {
    parts,
    pods: parts.reduce((sum, { replicas }) => sum + replicas, 0),
    request: [...sums].filter(([, amount]) => amount > 0),
  };
}

export function estimateSets(capacity: Capacity | undefined, set: ComponentSet): number {
  if (!capacity || capacity.pods <= 0) return 0;
  if (set.pods <= 0) return Math.min(capacity.pods, MOST_REPLICAS);
  let most = Math.min(Math.floor(capacity.pods / set.pods), MOST_REPLICAS);
  for (const [name, amount] of set.request) {
    const free = capacity.free.get(name) ?? 0;
    if (free <= 0) return 0;
    most = Math.min(most, Math.floor(free / amount));
  }
  return capacity.nodes ? Math.min(most, placeSets(capacity.nodes, set.parts, most)) : most;
}

/**
 * Places set after set, each component on the first nodes with room. A node without room for a component never has room
 * for it again, so each component continues at the node where it stopped: the cost is sets times components, plus
 * nodes.
 */
function placeSets(groups: readonly NodeGroup[], parts: readonly Part[], most: number): number {
  const nodes: Map<string, number>[] = [];
  for (const { count, free } of groups)
    for (let node = 0; node < Math.min(count, MAX_NODES); node++) nodes.push(new Map(free));
  const next = parts.map(() => 0);
  for (let sets = 0; sets < most; sets++) {
    for (const [index, part] of parts.entries()) {
      let left = part.replicas;
      for (let at = next[index] ?? 0; left > 0; at++) {
        const free = nodes[at];
        if (!free) return sets;
        const placed = Math.min(left, fitOnNode(free, part.request));
        if (placed > 0) take(free, part.request, placed);
        left -= placed;
        next[index] = left > 0 ? at + 1 : at;
      }
    }
  }
  return most;
}

/**
 * Kubernetes supports clusters of up to 5,000 nodes; a member that reports many more is estimated with this many nodes
 * of each grade.
 */
const MAX_NODES = 10_000;

function take(free: Map<string, number>, request: Request, replicas: number): void {
  free.set("pods", (free.get("pods") ?? 0) - replicas);
  for (const [name, amount] of request) free.set(name, Math.max(0, (free.get(name) ?? 0) - amount * replicas));
}
