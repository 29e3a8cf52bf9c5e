/**
 * Rules that keep a pod away from nodes; the rules themselves are in `api`, because DaemonSets follow them too. Pure.
 */
import { toleratesTaint } from "@flotilla/kubernetes";
import type { Node, Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";

export { matchesAnyTerm, matchesTerm, tolerates, toleratesTaint, matchesNode as wantsNode } from "@flotilla/kubernetes";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyNode = DeepReadonly<Node>;

/**
 * Reads a label by a user-defined key: `constructor` is a valid label name, and must not find the prototype's property.
 */
export function labelOf(labels: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/**
 * A rule for pods that have the same (or a different) value of a label as these labels; none if the label is missing.
 */
export function valueRule(
  labels: Readonly<Record<string, string>> | undefined,
  key: string,
  operator: string,
): { key: string; operator: string; values: string[] }[] {
  const value = labelOf(labels, key);
  return value === undefined ? [] : [{ key, operator, values: [value] }];
}

/** Whether a taint keeps the pod away from the node. */
export function isRepelled(pod: ReadonlyPod, { spec }: ReadonlyNode): boolean {
  return spec?.taints?.some((taint) => taint.effect !== "PreferNoSchedule" && !toleratesTaint(pod, taint)) ?? false;
}

/**
 * The only nodes that the pod may run on, if its affinity names them: pods of a DaemonSet do, and checking one node
 * instead of all makes it linear instead of quadratic.
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
