/**
 * Which policy takes a template from its current policy. Pure.
 *
 * Only a policy with `preemption: Always` that selects the template by name preempts. A namespaced policy needs a
 * higher priority than another namespaced policy, and none against a cluster policy. A cluster policy needs a higher
 * priority than another cluster policy, and never preempts a namespaced policy.
 */
import type { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { implicitPriority, type SelectableResource } from "../policies/resource-selector.ts";
import { chooseBestPolicy } from "./best-policy.ts";

type Local = DeepReadonly<PropagationPolicy>;
type Cluster = DeepReadonly<ClusterPropagationPolicy>;

/** The implicit priority of a selector with a name. */
const BY_NAME = 3;

export function choosePreemptor(
  template: SelectableResource,
  owner: Local | Cluster,
  policies: readonly Local[],
  clusterPolicies: readonly Cluster[],
): Local | Cluster | undefined {
  const may = (policy: Local | Cluster, regardless: boolean): boolean =>
    policy.spec.preemption === "Always" &&
    policy !== owner &&
    (regardless || (policy.spec.priority ?? 0) > (owner.spec.priority ?? 0)) &&
    implicitPriority(template, policy.spec.resourceSelectors) === BY_NAME;
  const isClusterOwner = owner.kind === "ClusterPropagationPolicy";
  // Cluster-scoped templates belong to cluster policies first.
  const isLocalAllowed = Boolean(template.metadata.namespace) || !isClusterOwner;
  const local = isLocalAllowed
    ? chooseBestPolicy(
        template,
        policies.filter((policy) => may(policy, isClusterOwner)),
      )
    : undefined;
  return (
    local ??
    (isClusterOwner
      ? chooseBestPolicy(
          template,
          clusterPolicies.filter((policy) => may(policy, false)),
        )
      : undefined)
  );
}
