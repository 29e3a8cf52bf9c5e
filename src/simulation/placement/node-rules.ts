/** What keeps a pod away from nodes; the rules themselves are `api`'s, because DaemonSets follow them too. Pure. */
import { toleratesTaint } from "../../api/index.ts";
import type { Node, Pod } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";

export { matchesAnyTerm, matchesTerm, tolerates, toleratesTaint, wantsNode } from "../../api/index.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyNode = DeepReadonly<Node>;

/**
 * A label by a key that somebody made up: `constructor` is a good name for a label, and no label of a node that has
 * none.
 */
export function labelOf(labels: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/**
 * A rule for pods that have the same value of a label as these labels have, or another one; none where they lack it.
 */
export function valueRule(
  labels: Readonly<Record<string, string>> | undefined,
  key: string,
  operator: string,
): { key: string; operator: string; values: string[] }[] {
  const value = labelOf(labels, key);
  return value === undefined ? [] : [{ key, operator, values: [value] }];
}

/** A taint that keeps the pod away from the node. */
export function isRepelled(pod: ReadonlyPod, { spec }: ReadonlyNode): boolean {
  return spec?.taints?.some((taint) => taint.effect !== "PreferNoSchedule" && !toleratesTaint(pod, taint)) ?? false;
}

/**
 * The only nodes that the pod may run on, where its affinity names them: pods of a DaemonSet do, and looking at one
 * node instead of all makes the difference between linear and quadratic.
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
