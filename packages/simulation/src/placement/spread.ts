/**
 * Topology spread: how evenly the pods of a workload are distributed over zones, nodes or other label domains. Hard
 * constraints exclude a node; soft and default ones lower its score. Pure over the view.
 */
import { ZONE_LABEL } from "@flotilla/kubernetes";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { ClusterView, NodeView } from "./cluster-view.ts";
import { isRepelled, labelOf, valueRule, wantsNode } from "./node-rules.ts";
import type { PodQuery } from "./pod-counts.ts";
import type { PodView } from "./pod-view.ts";

type Constraint = NonNullable<DeepReadonly<Pod>["spec"]["topologySpreadConstraints"]>[number];

export interface SpreadRules {
  refuse(node: NodeView): { reason: string; isFinal: boolean } | undefined;
  /** The number of matching pods in the node's domains, weighted; smaller is better. */
  spreadCost(node: NodeView): number;
  readonly hasCrowd: boolean;
}

const REFUSED = "node(s) didn't match pod topology spread constraints";

interface Domains {
  readonly key: string;
  readonly counts: ReadonlyMap<string, number>;
}

export function spreadRules(view: ClusterView, pod: PodView): SpreadRules | undefined {
  const constraints = pod.pod.spec.topologySpreadConstraints;
  if (!constraints?.length) return pod.owner ? defaultSpread(view, pod) : undefined;
  const hard = constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable !== "ScheduleAnyway");
  const soft = constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway");
  const limits = hard.map((constraint) => limitOf(view, pod, constraint, hard));
  const crowds = soft.map((constraint) => ({ ...domainsOf(view, pod, constraint, soft), maxSkew: constraint.maxSkew }));
  return {
    refuse({ node }) {
      for (const { key, counts, lowest, self, maxSkew } of limits) {
        const domain = labelOf(node.metadata.labels, key);
        if (domain === undefined) return { reason: `${REFUSED} (missing required label)`, isFinal: true };
        if ((counts.get(domain) ?? 0) + self - lowest > maxSkew) return { reason: REFUSED, isFinal: false };
      }
      return undefined;
    },
    hasCrowd: crowds.length > 0,
    spreadCost({ node }) {
      let spreadCost = 0;
      for (const { key, counts, maxSkew } of crowds) {
        const domain = labelOf(node.metadata.labels, key);
        // A node without the topology label takes no part in spreading; kube-scheduler gives it the lowest score.
        if (domain === undefined) return Number.POSITIVE_INFINITY;
        // With fewer domains, one more pod in a domain weighs more.
        spreadCost += (counts.get(domain) ?? 0) * Math.log(counts.size + 2) + (maxSkew - 1);
      }
      return spreadCost;
    },
  };
}

function limitOf(
  view: ClusterView,
  pod: PodView,
  constraint: Constraint,
  siblings: readonly Constraint[],
): Domains & { lowest: number; self: number; maxSkew: number } {
  const domains = domainsOf(view, pod, constraint, siblings);
  const lowest = domains.counts.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...domains.counts.values());
  const self = view.counts.of([queryOf(pod, constraint)]).matches(pod) ? 1 : 0;
  return { ...domains, lowest: Number.isFinite(lowest) ? lowest : 0, self, maxSkew: constraint.maxSkew };
}

/** The domains of the nodes that the pod could use, with their current number of pods. */
function domainsOf(view: ClusterView, pod: PodView, constraint: Constraint, siblings: readonly Constraint[]): Domains {
  const { topologyKey: key, nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore" } = constraint;
  const { byNode } = view.counts.of([queryOf(pod, constraint)]);
  const counts = new Map<string, number>();
  for (const { name, node } of view.nodes.values()) {
    const { labels } = node.metadata;
    const domain = labelOf(labels, key);
    if (domain === undefined || siblings.some(({ topologyKey }) => labelOf(labels, topologyKey) === undefined))
      continue;
    if (nodeAffinityPolicy === "Honor" && !wantsNode(pod.pod, node)) continue;
    if (nodeTaintsPolicy === "Honor" && (node.spec?.unschedulable || isRepelled(pod.pod, node))) continue;
    counts.set(domain, (counts.get(domain) ?? 0) + (byNode.get(name) ?? 0));
  }
  return { key, counts };
}

function queryOf({ namespace, pod }: PodView, { labelSelector, matchLabelKeys = [] }: Constraint): PodQuery {
  const rules = matchLabelKeys.flatMap((key) => valueRule(pod.metadata.labels, key, "In"));
  const selector =
    rules.length === 0
      ? labelSelector
      : { ...labelSelector, matchExpressions: [...(labelSelector?.matchExpressions ?? []), ...rules] };
  return { namespaces: [namespace], selector, isLasting: true };
}

/** Pods of one owner are spread over nodes, and with a lower weight over zones, unless they define constraints. */
function defaultSpread(view: ClusterView, { owner }: PodView): SpreadRules {
  const zones = new Map<string, number>();
  for (const { node, load } of view.nodes.values()) {
    const zone = node.metadata.labels?.[ZONE_LABEL];
    if (zone !== undefined) zones.set(zone, (zones.get(zone) ?? 0) + (load.owners.get(owner) ?? 0));
  }
  const perNode = Math.log(view.nodes.size + 2);
  const perZone = Math.log(zones.size + 2);
  return {
    refuse: () => undefined,
    hasCrowd: true,
    spreadCost: ({ node, load }) =>
      (load.owners.get(owner) ?? 0) * perNode + (zones.get(node.metadata.labels?.[ZONE_LABEL] ?? "") ?? 0) * perZone,
  };
}
