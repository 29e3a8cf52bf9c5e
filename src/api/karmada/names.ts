/**
 * The names that Karmada derives from other names. Stock tools compute them independently, so they must match exactly.
 *
 * A binding's name does not contain the API group: `apps/StatefulSet` and `apps.kruise.io/StatefulSet` of one name
 * share a binding name. The creator of a binding detects the other owner and reports the collision; see `planBinding`.
 */
import { fnv1a32, safeEncode } from "../../machinery/index.ts";

/** The namespace prefix for the Works of a member cluster. */
export const EXECUTION_NAMESPACE_PREFIX = "karmada-es-";
/** The namespace of the hub's own objects; it contains no templates. */
export const SYSTEM_NAMESPACE = "karmada-system";
/** The namespace of the members' credentials. */
export const CLUSTER_NAMESPACE = "karmada-cluster";

/** Names of RBAC objects contain colons, which a custom resource's name may not. */
const withoutColons = (name: string): string => name.replaceAll(":", ".");
const hashed = (text: string): string => safeEncode(String(fnv1a32(text)));

export function bindingName(kind: string, name: string): string {
  return withoutColons(`${name}-${kind}`).toLowerCase();
}

/** Kind and namespace are only part of the hash: all Works of a member share one namespace. */
export function workName(kind: string, name: string, namespace: string): string {
  const safe = withoutColons(name);
  const full = namespace ? `${namespace}-${safe}-${kind}` : `${safe}-${kind}`;
  return `${safe.toLowerCase()}-${hashed(full.toLowerCase())}`;
}

export function executionNamespace(cluster: string): string {
  return EXECUTION_NAMESPACE_PREFIX + cluster;
}

/** The member cluster that an execution namespace belongs to; undefined for any other namespace. */
export function clusterNameOf(namespace: string): string | undefined {
  return namespace.startsWith(EXECUTION_NAMESPACE_PREFIX)
    ? namespace.slice(EXECUTION_NAMESPACE_PREFIX.length)
    : undefined;
}

/** The part of a dependency's label key that names the dependent binding. */
export function bindingReferenceKey(namespace: string, name: string): string {
  return hashed(namespacedKey(namespace, name));
}

/** The policy that promoting a member's object creates; `gvk` as Go prints it: `apps/v1, Kind=Deployment`. */
export function policyName(namespace: string, name: string, gvk: string): string {
  return withoutColons(`${name}-${hashed(namespace + gvk)}`).toLowerCase();
}

export function derivedServiceName(service: string): string {
  return `derived-${service}`;
}

/** An EndpointSlice that was collected from one member and is distributed to the others. */
export function endpointSliceName(endpointSlice: string, cluster: string): string {
  return `imported-${cluster}-${endpointSlice}`;
}

/** The account that the hub uses on a member. */
export function serviceAccountName(cluster: string): string {
  return `karmada-${cluster}`;
}

export function impersonationSecretName(cluster: string): string {
  return `${cluster}-impersonator`;
}

export function isReservedNamespace(namespace: string): boolean {
  return (
    namespace === SYSTEM_NAMESPACE ||
    namespace === CLUSTER_NAMESPACE ||
    namespace.startsWith(EXECUTION_NAMESPACE_PREFIX)
  );
}

/** `namespace/name`, or the name alone for cluster-scoped objects. */
export function namespacedKey(namespace: string, name: string): string {
  return namespace ? `${namespace}/${name}` : name;
}
