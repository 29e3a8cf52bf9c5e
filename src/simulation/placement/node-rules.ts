/** What keeps a pod away from nodes; the rules themselves are `api`'s, because DaemonSets follow them too. Pure. */
import { toleratesTaint } from "../../api/index.ts";
import type { Node, Pod } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";

export { matchesAnyTerm, matchesTerm, tolerates, toleratesTaint, wantsNode } from "../../api/index.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyNode = DeepReadonly<Node>;

/** A taint that keeps the pod away from the node. */
export function isRepelled(pod: ReadonlyPod, { spec }: ReadonlyNode): boolean {
  return spec?.taints?.some((taint) => taint.effect !== "PreferNoSchedule" && !toleratesTaint(pod, taint)) ?? false;
}

/**
 * The only nodes that the pod may run on, where its affinity names them: pods of a DaemonSet do, and looking at one node instead of
 * all makes the difference between linear and quadratic.
 */
export function namedNodes({ spec }: ReadonlyPod): ReadonlySet<string> | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!terms?.length) return undefined;
  const names = new Set<string>();
  for (const { matchFields } of terms) {
    const byName = matchFields?.find(({ key, operator }) => key === "metadata.name" && operator === "In");
    if (!byName) return undefined;
    for (const name of byName.values ?? []) names.add(name);
  }
  return names;
}
