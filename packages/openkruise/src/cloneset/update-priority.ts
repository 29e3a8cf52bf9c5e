/**
 * `priorityStrategy`: the user defines the update order, by weights of matching labels or by the order in a label.
 * Pure; ties keep their order.
 */
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyCloneSet } from "./cloneset-pod-state.ts";

type RollingUpdate = NonNullable<NonNullable<ReadonlyCloneSet["spec"]["updateStrategy"]>["rollingUpdate"]>;
export type PriorityStrategy = NonNullable<RollingUpdate["priorityStrategy"]>;

export function byPriority(
  pods: readonly ReadonlyPod[],
  { weightPriority, orderPriority }: PriorityStrategy,
): ReadonlyPod[] {
  if (weightPriority?.length) {
    const terms = weightPriority.map(({ weight, matchSelector }) => ({
      weight,
      selector: labelSelectorOf(matchSelector),
    }));
    const weightOf = ({ metadata }: ReadonlyPod): number =>
      terms.reduce((sum, { weight, selector }) => sum + (matchesLabels(selector, metadata.labels) ? weight : 0), 0);
    return sortedBy(pods, (pod) => [-weightOf(pod)]);
  }
  if (orderPriority?.length) {
    // A pod with none of the keys has level −1 and comes first.
    const levelOf = ({ metadata }: ReadonlyPod): number =>
      orderPriority.findIndex(({ orderedKey }) => metadata.labels?.[orderedKey] !== undefined);
    return sortedBy(pods, (pod) => {
      const level = levelOf(pod);
      const value = pod.metadata.labels?.[orderPriority[level]?.orderedKey ?? ""] ?? "";
      return [level, -trailingNumber(value)];
    });
  }
  return [...pods];
}

/** `web-12` → 12; a value without trailing digits is 0. Label values have at most 63 characters. */
function trailingNumber(value: string): number {
  let start = value.length;
  while (start > 0 && /\d/.test(value[start - 1] ?? "")) start--;
  return Number(value.slice(start) || 0);
}

/** Ranks are computed once per pod; lower ones come first. */
function sortedBy(
  pods: readonly ReadonlyPod[],
  rankOf: (pod: ReadonlyPod) => readonly [number, number?],
): ReadonlyPod[] {
  return pods
    .map((pod) => ({ pod, rank: rankOf(pod) }))
    .toSorted((a, b) => a.rank[0] - b.rank[0] || (a.rank[1] ?? 0) - (b.rank[1] ?? 0))
    .map(({ pod }) => pod);
}
