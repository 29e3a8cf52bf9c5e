/**
 * Maintains, per node, the number of pods that match a selector. Affinity and topology spread need such counts for
 * every placed pod; counting each time would scan every pod.
 *
 * A count is created on first use and evicted when too many others have been used since.
 */
import type { DeepReadonly } from "@flotilla/base";
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { LabelSelectorObject } from "@flotilla/apimachinery";
import type { PodView } from "./pod-view.ts";

/** Pods with these labels, in these namespaces; unset means all. */
export interface PodQuery {
  readonly namespaces: readonly string[] | undefined;
  readonly selector: DeepReadonly<LabelSelectorObject> | undefined;
  /** Excludes terminating pods: they do not count for spreading, but anti-affinity still applies to them. */
  readonly isLasting?: true;
}

export interface PodCount {
  /** By node name; nodes without such pods are absent. */
  readonly byNode: ReadonlyMap<string, number>;
  matches(pod: Pick<PodView, "namespace" | "pod">): boolean;
}

export interface PodCounts {
  /** Pods that match every query. */
  of(queries: readonly PodQuery[]): PodCount;
  add(pod: PodView, node: string, sign: 1 | -1): void;
}

/** One per rule of a workload; enough for a cluster of a thousand workloads with rules. */
const MAX_COUNTS = 1024;

export function createPodCounts(all: () => Iterable<{ pod: PodView; node: string }>): PodCounts {
  const counts = new Map<string, PodCount & { byNode: Map<string, number> }>();
  const change = (byNode: Map<string, number>, node: string, sign: 1 | -1): void => {
    const count = (byNode.get(node) ?? 0) + sign;
    if (count > 0) byNode.set(node, count);
    else byNode.delete(node);
  };
  return {
    of(queries) {
      const key = JSON.stringify(
        queries.map(({ namespaces, selector, isLasting }) => [
          namespaces ?? null,
          selector ?? null,
          isLasting ?? false,
        ]),
      );
      let count = counts.get(key);
      // Reinserted at the end: the least recently used count is evicted first.
      if (count) counts.delete(key);
      else {
        count = { byNode: new Map(), matches: matcherOf(queries) };
        for (const { pod, node } of all()) if (count.matches(pod)) change(count.byNode, node, 1);
        const [oldest] = counts.keys();
        if (counts.size >= MAX_COUNTS && oldest !== undefined) counts.delete(oldest);
      }
      counts.set(key, count);
      return count;
    },
    add(pod, node, sign) {
      for (const count of counts.values()) if (count.matches(pod)) change(count.byNode, node, sign);
    },
  };
}

export function matcherOf(queries: readonly PodQuery[]): PodCount["matches"] {
  const parsed = queries.map(({ namespaces, selector, isLasting = false }) => ({
    namespaces: namespaces && new Set(namespaces),
    selector: labelSelectorOf(selector),
    isLasting,
  }));
  return ({ namespace, pod: { metadata } }) =>
    parsed.every(
      ({ namespaces, selector, isLasting }) =>
        (!namespaces || namespaces.has(namespace)) &&
        !(isLasting && metadata.deletionTimestamp) &&
        matchesLabels(selector, metadata.labels),
    );
}
