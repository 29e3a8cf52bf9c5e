/**
 * Affinity rules between pods: required affinity and anti-affinity, and preferences. Pure over the view; the cost for
 * one pod is a few numbers per node and rule.
 */
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { ClusterView, NodeView } from "./cluster-view.ts";
import { labelOf, valueRule } from "./node-rules.ts";
import { matcherOf } from "./pod-counts.ts";
import type { PodCount, PodQuery } from "./pod-counts.ts";
import type { PodView } from "./pod-view.ts";

type Term = PodView["avoids"][number];
export type NamespaceLabels = ReadonlyMap<string, Readonly<Record<string, string>> | undefined>;

export interface AffinityRules {
  /** Undefined if the rules allow the pod on the node. */
  refuse(node: NodeView): string | undefined;
  /** The preference score of a node; any number, larger is better. */
  score(node: NodeView): number;
  readonly hasScores: boolean;
}

const EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules";
const AFFINITY = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules";

/** `namespaces` is called only if a term selects namespaces by label. */
export function affinityRules(
  view: ClusterView,
  pod: PodView,
  namespaces: () => NamespaceLabels,
): AffinityRules | undefined {
  const { podAffinity, podAntiAffinity } = pod.pod.spec.affinity ?? {};
  if (!podAffinity && !podAntiAffinity && view.avoiding.size === 0) return undefined;
  const queryOf = (term: Term, owner: PodView): PodQuery => termQuery(term, owner, namespaces);

  const required = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const queries = required.map((term) => queryOf(term, pod));
  const company = required.length > 0 ? view.counts.of(queries) : undefined;
  const together = company ? required.map(({ topologyKey }) => byDomain(view, company, topologyKey)) : [];
  // The first pod of a group with affinity to itself has no pod to join yet.
  const isFirst = company !== undefined && together.every((domains) => domains.size === 0) && matcherOf(queries)(pod);

  const apart = pod.avoids.map((term) => ({
    key: term.topologyKey,
    domains: byDomain(view, view.counts.of([queryOf(term, pod)]), term.topologyKey),
  }));
  const taken = domainsTaken(view, pod, queryOf);
  const wishes = [
    ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((wish) => ({ ...wish, sign: 1 })),
    ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((wish) => ({ ...wish, sign: -1 })),
  ].map(({ weight, podAffinityTerm: term, sign }) => ({
    key: term.topologyKey,
    weight: sign * weight,
    domains: byDomain(view, view.counts.of([queryOf(term, pod)]), term.topologyKey),
  }));

  return {
    hasScores: wishes.length > 0,
    refuse({ node }) {
      const { labels } = node.metadata;
      for (const [index, { topologyKey }] of required.entries()) {
        const domain = labelOf(labels, topologyKey);
        if (domain === undefined || (!isFirst && !together[index]?.has(domain))) return AFFINITY;
      }
      for (const { key, domains } of apart) if (domains.has(labelOf(labels, key) ?? "")) return ANTI_AFFINITY;
      for (const [key, domains] of taken) if (domains.has(labelOf(labels, key) ?? "")) return EXISTING;
      return undefined;
    },
    score({ node }) {
      let score = 0;
      for (const { key, weight, domains } of wishes)
        score += weight * (domains.get(labelOf(node.metadata.labels, key) ?? "") ?? 0);
      return score;
    },
  };
}

/** Domains from which existing pods exclude this one by anti-affinity. */
function domainsTaken(
  view: ClusterView,
  pod: PodView,
  queryOf: (term: Term, owner: PodView) => PodQuery,
): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>();
  // Replicas repeat the same rule, so each distinct rule is matched against the pod once.
  const verdicts = new Map<string, boolean>();
  for (const [other, nodeName] of view.avoiding) {
    const labels = view.nodes.get(nodeName)?.node.metadata.labels;
    for (const term of other.avoids) {
      const domain = labelOf(labels, term.topologyKey);
      if (domain === undefined) continue;
      const query = queryOf(term, other);
      const key = JSON.stringify(query);
      let hit = verdicts.get(key);
      if (hit === undefined) verdicts.set(key, (hit = matcherOf([query])(pod)));
      if (!hit) continue;
      let domains = taken.get(term.topologyKey);
      if (!domains) taken.set(term.topologyKey, (domains = new Set()));
      domains.add(domain);
    }
  }
  return taken;
}

/** The number of counted pods per domain; only domains with at least one. */
function byDomain(view: ClusterView, { byNode }: PodCount, topologyKey: string): Map<string, number> {
  const domains = new Map<string, number>();
  for (const [name, count] of byNode) {
    const domain = labelOf(view.nodes.get(name)?.node.metadata.labels, topologyKey);
    if (domain !== undefined) domains.set(domain, (domains.get(domain) ?? 0) + count);
  }
  return domains;
}

/**
 * Named and selected namespaces; without both, the pod's own. The API server has merged the keys of `matchLabelKeys`
 * where it does so.
 */
function termQuery(term: Term, owner: PodView, namespaces: () => NamespaceLabels): PodQuery {
  const { namespaceSelector, namespaces: named = [] } = term;
  const selector = withLabelKeys(term, owner);
  if (!namespaceSelector) return { namespaces: named.length > 0 ? named : [owner.namespace], selector };
  const parsed = labelSelectorOf(namespaceSelector);
  if (parsed.requirements.length === 0 && !parsed.matchesNothing) return { namespaces: undefined, selector };
  const selected = Array.from(namespaces()).flatMap(([name, labels]) => (matchesLabels(parsed, labels) ? [name] : []));
  return { namespaces: [...new Set([...named, ...selected])].sort(), selector };
}

/** The selector narrowed to pods with the same (or a different) value of these labels as the owner. */
function withLabelKeys(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: Term,
  { pod }: PodView,
): PodQuery["selector"] {
  if (!labelSelector || matchLabelKeys.length + mismatchLabelKeys.length === 0) return labelSelector;
  const rules = (keys: readonly string[], operator: string) =>
    keys.flatMap((key) => valueRule(pod.metadata.labels, key, operator));
  return {
    ...labelSelector,
    matchExpressions: [
      ...(labelSelector.matchExpressions ?? []),
      ...rules(matchLabelKeys, "In"),
      ...rules(mismatchLabelKeys, "NotIn"),
    ],
  };
}
