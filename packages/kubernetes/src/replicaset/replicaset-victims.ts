/**
 * Chooses the pods that a ReplicaSet deletes on scale-down, in Kubernetes' order: the least useful, then the lowest
 * deletion cost, then those that share a node with others of the same workload, then the youngest.
 */
import {
  cheaperFirst,
  inOrder,
  newestFirst,
  pendingFirst,
  recentlyReadyFirst,
  restartedFirst,
  unassignedFirst,
  unreadyFirst,
} from "../pod/pod-state.ts";
import type { PodRule, ReadonlyPod } from "../pod/pod-state.ts";

/**
 * `related` are the active pods of every ReplicaSet of the same owner, including these: they should stay spread out.
 */
export function chooseReplicaSetVictims(
  pods: readonly ReadonlyPod[],
  related: readonly ReadonlyPod[],
  count: number,
): ReadonlyPod[] {
  if (count >= pods.length) return [...pods];
  const onNode = new Map<string, number>();
  for (const { spec } of related) if (spec.nodeName) onNode.set(spec.nodeName, (onNode.get(spec.nodeName) ?? 0) + 1);
  const crowd = ({ spec }: ReadonlyPod): number => onNode.get(spec.nodeName ?? "") ?? 0;
  const crowdedFirst: PodRule = (a, b) => crowd(b) - crowd(a);
  return pods
    .toSorted(
      inOrder(
        unassignedFirst,
        pendingFirst,
        unreadyFirst,
        cheaperFirst,
        crowdedFirst,
        recentlyReadyFirst,
        restartedFirst,
        newestFirst,
      ),
    )
    .slice(0, count);
}
