/**
 * Which templates a policy selects, and how specifically. Propagation and override policies share these rules.
 *
 * The implicit priority orders policies that select the same template: a name is more specific than labels, labels more
 * than a kind.
 */
import { selectsClusterScoped } from "@flotilla/karmada";
import type { KubernetesObject, ObjectMeta } from "@flotilla/apimachinery";
import type { ResourceSelector as ApiResourceSelector } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { compileLabelSelector } from "./label-selector.ts";

/** An empty namespace matches any; admission sets it for namespaced policies. Labels count only without a name. */
export type ResourceSelector = DeepReadonly<ApiResourceSelector>;

/** The fields of a template that a selector reads. */
export type SelectableResource = DeepReadonly<
  Pick<KubernetesObject, "apiVersion" | "kind"> & { metadata: Pick<ObjectMeta, "name" | "namespace" | "labels"> }
>;

/** 0 no match, 1 every object of the kind, 2 by labels, 3 by name. */
export type ImplicitPriority = 0 | 1 | 2 | 3;

/** How a propagation policy selects the object: the most specific match among its selectors. */
export function implicitPriority(
  resource: SelectableResource,
  selectors: readonly ResourceSelector[],
): ImplicitPriority {
  return bestMatch(resource, isOfEveryNamespace(resource) ? selectors.filter(isExplicit) : selectors);
}

/** How an override policy selects a copy. */
export const overridePriority = bestMatch;

/**
 * Every cluster creates this ServiceAccount in each namespace itself, so that the hub's is in conflict with all of them.
 * A policy for the ServiceAccounts of a namespace does not mean it.
 */
export const isOfEveryNamespace = ({ apiVersion, kind, metadata }: SelectableResource): boolean =>
  apiVersion === "v1" && kind === "ServiceAccount" && metadata.name === "default";

const isExplicit = ({ name, labelSelector }: ResourceSelector): boolean =>
  Boolean(name) ||
  Object.keys(labelSelector?.matchLabels ?? {}).length + (labelSelector?.matchExpressions?.length ?? 0) > 0;

function bestMatch(resource: SelectableResource, selectors: readonly ResourceSelector[]): ImplicitPriority {
  let best: ImplicitPriority = 0;
  for (const selector of selectors) {
    const priority = selectorPriority(resource, selector);
    if (priority > best) best = priority;
  }
  return best;
}

export function matchesResource(resource: SelectableResource, selectors: readonly ResourceSelector[]): boolean {
  return implicitPriority(resource, selectors) > 0;
}

function selectorPriority(
  { apiVersion, kind, metadata }: SelectableResource,
  selector: ResourceSelector,
): ImplicitPriority {
  if (selector.apiVersion !== apiVersion || selector.kind !== kind) return 0;
  if (
    selector.namespace &&
    selector.namespace !== (metadata.namespace ?? "") &&
    !meansClusterScoped(selector, metadata)
  )
    return 0;
  if (selector.name) return selector.name === metadata.name ? 3 : 0;
  if (!selector.labelSelector) return 1;
  return compileLabelSelector(selector.labelSelector)(metadata.labels) ? 2 : 0;
}

/** A namespaced policy that selects a cluster-scoped kind; admission allowed it and set the policy's namespace. */
function meansClusterScoped(selector: ResourceSelector, { namespace }: SelectableResource["metadata"]): boolean {
  return !namespace && selectsClusterScoped(selector);
}
