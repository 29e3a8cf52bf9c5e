/**
 * The rules of an aggregated cluster role: `admin`, `edit` and `view`, which operators extend by labelling their roles.
 */
import type { DeepReadonly } from "@flotilla/base";
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { ClusterRole, PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";

/** Selector by selector, the selected roles by name, every rule once. Undefined for a role that is not aggregated. */
export function aggregatedRules(
  role: DeepReadonly<ClusterRole>,
  all: Iterable<DeepReadonly<ClusterRole>>,
): DeepReadonly<PolicyRule>[] | undefined {
  if (!role.aggregationRule) return undefined;
  const others = [...all]
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  // Keyed by content, because pairwise comparison would take minutes for the largest possible roles.
  const gathered = new Map<string, DeepReadonly<PolicyRule>>();
  for (const declared of role.aggregationRule.clusterRoleSelectors ?? []) {
    const selector = labelSelectorOf(declared);
    for (const { metadata, rules = [] } of others) {
      if (!matchesLabels(selector, metadata.labels)) continue;
      for (const rule of rules) {
        const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
        const content = JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
        if (!gathered.has(content)) gathered.set(content, rule);
      }
    }
  }
  return [...gathered.values()];
}
