/**
 * How many pods that match a selector each node carries, kept up to date by the pods' comings and goings. Affinity and
 * topology spread ask such questions for every pod that is placed; counting anew each time would cost a look at every
 * pod.
 *
 * A count is made when it is first asked for and dropped when too many others are asked for after it.
 */
import type { DeepReadonly } from "../../base/index.ts";
import { labelSelectorOf, matchesLabels } from "../../machinery/index.ts";
import type { LabelSelectorObject } from "../../machinery/index.ts";
import type { PodView } from "./pod-view.ts";

/** Pods with these labels, in these namespaces; unset means all. */
export interface PodQuery {
  readonly namespaces: readonly string[] | undefined;
  readonly selector: DeepReadonly<LabelSelectorObject> | undefined;
  /** Pods that are going do not count: for spreading they are gone, while others still keep away from them. */
  readonly isLasting?: true;
}

export interface PodCount {
  /** By node name; a node without such pods is not there. */
  readonly byNode: ReadonlyMap<string, number>;
  matches(pod: Pick<PodView, "namespace" | "pod">): boolean;
}

export interface PodCounts {
  /** Pods that match every query. */
  of(queries: readonly PodQuery[]): PodCount;
  add(pod: PodView, node: string, sign: 1 | -1): void;
}

/** One for each rule of a workload; a cluster of a thousand workloads with rules still fits. */
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
      // Asked for again: the last to go.
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
