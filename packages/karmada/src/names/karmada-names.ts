/**
 * The names that Karmada defines and its tools read: namespaces, labels, annotations, finalizers, taints; and the names
 * that it derives from other names, which stock tools compute independently, so they must match exactly. Product code
 * spells none of them elsewhere.
 *
 * A binding's name does not contain the API group: `apps/StatefulSet` and `apps.kruise.io/StatefulSet` of one name
 * share a binding name. The creator of a binding detects the other owner and reports the collision; see `planBinding`.
 */
import { fnv1a32, safeEncode } from "@flotilla/apimachinery";

export { RETAIN_REPLICAS, TEMPLATE_GENERATION } from "@flotilla/kubernetes";

// Namespaces.

/** The prefix of the namespaces that contain the Works of one member cluster. */
const EXECUTION_NAMESPACE_PREFIX = "karmada-es-";
/** The hub's own objects; contains no templates. */
export const KARMADA_SYSTEM_NAMESPACE = "karmada-system";
/** The members' credentials, and the Lease that the agent of a pull member renews, named like its Cluster. */
export const KARMADA_CLUSTER_NAMESPACE = "karmada-cluster";
/** On a Namespace, a label: it is not propagated. */
export const SKIP_NAMESPACE = "namespace.karmada.io/skip-auto-propagation";

// Policies and the templates that they claim; written by match.

/** The permanent id of a PropagationPolicy; on the policy, and on the template and binding that it claimed. */
export const POLICY_ID = "propagationpolicy.karmada.io/permanent-id";
/** The namespace of the PropagationPolicy that claimed a template. */
export const POLICY_NAMESPACE = "propagationpolicy.karmada.io/namespace";
/** The name of the PropagationPolicy that claimed a template. */
export const POLICY_NAME = "propagationpolicy.karmada.io/name";
/** Kept until the templates that a PropagationPolicy claimed are released. */
export const POLICY_FINALIZER = "karmada.io/propagation-policy-controller";
/** The permanent id of a ClusterPropagationPolicy; on the policy, and on the template and binding that it claimed. */
export const CLUSTER_POLICY_ID = "clusterpropagationpolicy.karmada.io/permanent-id";
/** The name of the ClusterPropagationPolicy that claimed a template. */
export const CLUSTER_POLICY_NAME = "clusterpropagationpolicy.karmada.io/name";
/** Kept until the templates that a ClusterPropagationPolicy claimed are released. */
export const CLUSTER_POLICY_FINALIZER = "karmada.io/cluster-propagation-policy-controller";
/** A label of templates that another controller propagates; policies ignore them. */
export const CLAIMED_BY = "resourcetemplate.karmada.io/claimed-by";

// Templates; written by users.

/** On a template or a policy: whether an existing object on a member may be overwritten. */
export const CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution";

// Bindings.

/** match: the permanent id of a ResourceBinding; dispatch repeats it on its Works and manifests. */
export const BINDING_ID = "resourcebinding.karmada.io/permanent-id";
/** dispatch: the namespace of the ResourceBinding of a Work. */
export const BINDING_NAMESPACE = "resourcebinding.karmada.io/namespace";
/** dispatch: the name of the ResourceBinding of a Work. */
export const BINDING_NAME = "resourcebinding.karmada.io/name";
/** Kept until dispatch has deleted the Works of a ResourceBinding. */
export const BINDING_FINALIZER = "karmada.io/binding-controller";
/** match: the permanent id of a ClusterResourceBinding; dispatch repeats it on its Works and manifests. */
export const CLUSTER_BINDING_ID = "clusterresourcebinding.karmada.io/permanent-id";
/** dispatch: the name of the ClusterResourceBinding of a Work. */
export const CLUSTER_BINDING_NAME = "clusterresourcebinding.karmada.io/name";
/** Kept until dispatch has deleted the Works of a ClusterResourceBinding. */
export const CLUSTER_BINDING_FINALIZER = "karmada.io/cluster-resource-binding-controller";
/** schedule: the placement that produced `spec.clusters`, as JSON. */
export const APPLIED_PLACEMENT = "policy.karmada.io/applied-placement";
/** dependencies: the references of a binding's resource, as JSON. */
export const DEPENDENCIES = "resourcebinding.karmada.io/dependencies";
/** dependencies: on the binding of a dependency, one label per requirer. */
export const DEPENDED_BY_PREFIX = "resourcebinding.karmada.io/depended-by-";

// Works; written by dispatch.

/** The OverridePolicies that changed a Work, as JSON. */
export const APPLIED_OVERRIDES = "policy.karmada.io/applied-overrides";
/** The ClusterOverridePolicies that changed a Work, as JSON. */
export const APPLIED_CLUSTER_OVERRIDES = "policy.karmada.io/applied-cluster-overrides";
/** Kept until execute has removed a Work's manifests from the member. */
export const WORK_FINALIZER = "karmada.io/execution-controller";
/** The permanent id of a Work; on the Work and its manifests. */
export const WORK_ID = "work.karmada.io/permanent-id";

// Objects on members; written by dispatch into the manifests, unless stated otherwise.

/** A label that delivery sets on every object of a control plane. */
export const MANAGED_LABEL = "karmada.io/managed";
/** The namespace of the Work that delivered the object. */
export const WORK_NAMESPACE = "work.karmada.io/namespace";
/** The name of the Work that delivered the object. */
export const WORK_NAME = "work.karmada.io/name";
/** The uid of the object's template. */
export const TEMPLATE_UID = "resourcetemplate.karmada.io/uid";
/** The labels that the manifest contained, comma-separated. */
export const MANAGED_LABELS = "resourcetemplate.karmada.io/managed-labels";
/** The annotations that the manifest contained, comma-separated. */
export const MANAGED_ANNOTATIONS = "resourcetemplate.karmada.io/managed-annotations";
/** Set by aggregated reads: the member cluster that an object was read from. */
export const CACHED_FROM_CLUSTER = "resource.karmada.io/cached-from-cluster";

// Clusters; written by membership.

/** Keeps a Cluster until its execution namespace is deleted. */
export const CLUSTER_FINALIZER = "karmada.io/cluster-controller";
/** A label on the objects that join creates, on the hub and on the member. */
export const SYSTEM_LABEL = "karmada.io/system";
export const SYSTEM_LABELS: Readonly<Record<string, string>> = Object.freeze({ [SYSTEM_LABEL]: "true" });
/** The taint of a member that reports that it is not ready. */
export const CLUSTER_NOT_READY_TAINT = "cluster.karmada.io/not-ready";
/** The taint of a member that the hub does not reach. */
export const CLUSTER_UNREACHABLE_TAINT = "cluster.karmada.io/unreachable";
/** The taint of a member that users cordoned. */
export const CORDON_TAINT = "cluster.karmada.io/unscheduler";
/** The key of the token in a credential Secret. */
export const TOKEN_KEY = "token";
/** The key of the certificate authority in a credential Secret. */
export const CA_KEY = "caBundle";
/** The ClusterRole, and its binding, that let the hub impersonate its users on a member. */
export const IMPERSONATOR = "karmada-impersonator";

// Derived names.

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

/** The account that the hub uses on a member. */
export function serviceAccountName(cluster: string): string {
  return `karmada-${cluster}`;
}

export function impersonationSecretName(cluster: string): string {
  return `${cluster}-impersonator`;
}

// Agents of pull members, and the users that register them.

export const KARMADA_AGENTS_GROUP = "system:karmada:agents";
const KARMADA_AGENT_PREFIX = "system:karmada:agent:";
/** The user that `karmadactl register` temporarily becomes to grant an agent its permissions. */
export const RBAC_GENERATOR_USER = `${KARMADA_AGENT_PREFIX}rbac-generator`;
/** The prefix of the certificate requests for that user. */
export const RBAC_GENERATOR_REQUEST_PREFIX = "agent-rbac-generator-";
/** The group of the tokens that `karmadactl token create` creates. */
export const KARMADA_TOKENS_GROUP = "system:bootstrappers:karmada:default-cluster-token";

export function agentUser(cluster: string): string {
  return `${KARMADA_AGENT_PREFIX}${cluster}`;
}

/** Undefined for a user that is not an agent of a cluster. */
export function clusterOfAgentUser(user: string): string | undefined {
  return user.startsWith(KARMADA_AGENT_PREFIX) && user !== RBAC_GENERATOR_USER
    ? user.slice(KARMADA_AGENT_PREFIX.length)
    : undefined;
}

/** The name of an agent's ClusterRole and ClusterRoleBinding, and the prefix of its Roles and RoleBindings. */
export function agentRoleName(cluster: string): string {
  return `system:karmada:${cluster}:agent`;
}

/** Undefined for other roles. */
export function clusterOfAgentRole(name: string): string | undefined {
  return /^system:karmada:([^:]+):agent$/.exec(name)?.[1];
}

/**
 * Not Karmada's: a condition of Clusters, `False` while the last probes of a push member were not answered. `Ready`
 * follows later, so that a short outage moves no workload. A member that answers does not have it.
 */
export const RESPONDING = "Responding";

/** The Lease with which replicas of one agent elect the active one, in Karmada's own namespace. */
export function agentElectionLease(cluster: string): string {
  return `karmada-agent-${cluster}`;
}

export function isReservedNamespace(namespace: string): boolean {
  return (
    namespace === KARMADA_SYSTEM_NAMESPACE ||
    namespace === KARMADA_CLUSTER_NAMESPACE ||
    namespace.startsWith(EXECUTION_NAMESPACE_PREFIX)
  );
}

/** `namespace/name`, or the name alone for cluster-scoped objects. */
export function namespacedKey(namespace: string, name: string): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** On the Works of a FederatedResourceQuota. */
export const QUOTA_NAMESPACE = "federatedresourcequota.karmada.io/namespace";
export const QUOTA_NAME = "federatedresourcequota.karmada.io/name";

/** On an object: `Always` rejects its deletion. */
export const DELETION_PROTECTED = "resourcetemplate.karmada.io/deletion-protected";
