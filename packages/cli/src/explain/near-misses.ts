/**
 * Policies that nearly select an object that no policy selects: a PropagationPolicy of another namespace, or a selector
 * with another API version or a misspelt kind. Pure.
 */
import { parseApiVersion, objectTitle } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { didYouMean } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { matchesResource } from "@flotilla/flotilla";
import type { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";

type Policy = DeepReadonly<PropagationPolicy> | DeepReadonly<ClusterPropagationPolicy>;
type Template = DeepReadonly<KubernetesObject>;
type Selector = Policy["spec"]["resourceSelectors"][number];

export interface NearMiss {
  what: string;
  try: string;
}

/** The first ones show the pattern. */
const MAX_MISSES = 3;

export function findNearMisses(
  template: Template,
  {
    policies,
    clusterPolicies,
  }: {
    policies: readonly DeepReadonly<PropagationPolicy>[];
    clusterPolicies: readonly DeepReadonly<ClusterPropagationPolicy>[];
  },
): NearMiss[] {
  const { namespace } = template.metadata;
  const own = policies.filter(({ metadata }) => metadata.namespace === namespace);
  const others = policies.filter(({ metadata }) => metadata.namespace !== namespace);
  const near = [...own, ...clusterPolicies].flatMap((policy) => otherKind(template, policy));
  if (near.length > 0) return near.slice(0, MAX_MISSES);
  const elsewhere = namespace === undefined ? [] : others.filter((policy) => selectsElsewhere(template, policy));
  return elsewhere.length > 0 ? [otherNamespace(namespace ?? "", elsewhere)] : [];
}

/** A policy with the same selectors in the object's namespace would select it. */
function selectsElsewhere(template: Template, { metadata, spec }: DeepReadonly<PropagationPolicy>): boolean {
  const here = spec.resourceSelectors.map((selector) =>
    selector.namespace === metadata.namespace ? { ...selector, namespace: template.metadata.namespace } : selector,
  );
  return matchesResource(template, here);
}

/** Other teams have policies for the same kinds, so these are one line. */
function otherNamespace(namespace: string, policies: readonly DeepReadonly<PropagationPolicy>[]): NearMiss {
  const names = policies.slice(0, MAX_MISSES).map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`);
  const more = policies.length > names.length ? ` and ${policies.length - names.length} more` : "";
  const isOne = policies.length === 1;
  return {
    what:
      `${isOne ? "PropagationPolicy" : "PropagationPolicies"} ${names.join(", ")}${more} ` +
      `${isOne ? "selects" : "select"} such objects, but only in ${isOne ? "its" : "their"} own namespace`,
    try: `create such a policy in namespace ${namespace}, or a ClusterPropagationPolicy`,
  };
}

function otherKind(template: Template, policy: Policy): NearMiss[] {
  for (const selector of policy.spec.resourceSelectors) {
    const { apiVersion, kind } = template;
    if (!isNear(template, selector) || !matchesResource(template, [{ ...selector, apiVersion, kind }])) continue;
    return [
      {
        what: `${objectTitle(policy)} selects ${selector.kind} in ${selector.apiVersion}, and this is ${kind} in ${apiVersion}`,
        // Every served version matches.
        try: `set ${selector.kind === kind ? `apiVersion: ${apiVersion}` : `kind: ${kind}`} in the resourceSelectors of the policy`,
      },
    ];
  }
  return [];
}

/** Kubernetes and OpenKruise both have a StatefulSet and a DaemonSet, which are different kinds. */
function isNear({ apiVersion, kind }: Template, selector: Selector): boolean {
  if (selector.kind === kind) return selector.apiVersion !== apiVersion;
  const isSameGroup = parseApiVersion(selector.apiVersion).group === parseApiVersion(apiVersion).group;
  return isSameGroup && !KNOWN_PAIRS.has(selector.kind) && didYouMean(selector.kind, [kind]) !== "";
}

/** Kinds with similar names. */
const KNOWN_PAIRS: ReadonlySet<string> = new Set(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"]);
