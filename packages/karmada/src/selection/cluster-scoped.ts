/** Which cluster-scoped objects policies of a namespace select. Apart from the rules, which load the kinds of Kubernetes and OpenKruise. */
import { parseApiVersion } from "@flotilla/apimachinery";

/**
 * Cluster-scoped kinds that a namespaced policy may nevertheless select, because users write such policies. Other kinds
 * need a cluster-scoped policy: permission for a namespace does not include propagating ClusterRoles and CRDs.
 */
const SELECTED_FROM_NAMESPACES: ReadonlySet<string> = new Set(["apps.kruise.io/SidecarSet"]);

/** True when a PropagationPolicy that selects this kind selects the cluster-scoped object of that name. */
export function selectsClusterScoped({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string;
  readonly kind: string;
}): boolean {
  return SELECTED_FROM_NAMESPACES.has(groupKind(apiVersion, kind));
}

export const groupKind = (apiVersion: string, kind: string): string => `${parseApiVersion(apiVersion).group}/${kind}`;
