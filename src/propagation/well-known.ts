/** Labels, annotations and finalizers that Karmada defined and its tools read. Each is written by the one stage named. */

/** match: which policy claimed a template; on the template and its binding. */
export const POLICY_ID = "propagationpolicy.karmada.io/permanent-id";
export const POLICY_NAMESPACE = "propagationpolicy.karmada.io/namespace";
export const POLICY_NAME = "propagationpolicy.karmada.io/name";
export const CLUSTER_POLICY_ID = "clusterpropagationpolicy.karmada.io/permanent-id";
export const CLUSTER_POLICY_NAME = "clusterpropagationpolicy.karmada.io/name";

/** match: identity of a binding; dispatch repeats it on the Works and manifests that it makes. */
export const BINDING_ID = "resourcebinding.karmada.io/permanent-id";
export const BINDING_NAMESPACE = "resourcebinding.karmada.io/namespace";
export const BINDING_NAME = "resourcebinding.karmada.io/name";
/** Held until dispatch has deleted the binding's Works. */
export const BINDING_FINALIZER = "karmada.io/binding-controller";

/** schedule: the placement that `spec.clusters` follows from, as JSON. */
export const APPLIED_PLACEMENT = "policy.karmada.io/applied-placement";

/**
 * match, from the policy, for schedule: a binding that follows a later one of its `clusterAffinities` returns to an earlier
 * one that works again, once this many seconds have passed since it was last scheduled. Without it, it stays.
 */
export const RETURN_AFTER_SECONDS = "flotilla.dev/return-after-seconds";

/** dispatch: on Works. */
export const APPLIED_OVERRIDES = "policy.karmada.io/applied-overrides";
export const APPLIED_CLUSTER_OVERRIDES = "policy.karmada.io/applied-cluster-overrides";
/** Held until execute has removed the manifests from the member. */
export const WORK_FINALIZER = "karmada.io/execution-controller";

/** dispatch: on manifests, and so on the objects of the members. */
export const WORK_NAMESPACE = "work.karmada.io/namespace";
export const WORK_NAME = "work.karmada.io/name";
export const CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution";
export const TEMPLATE_UID = "resourcetemplate.karmada.io/uid";
export const MANAGED_LABELS = "resourcetemplate.karmada.io/managed-labels";
export const MANAGED_ANNOTATIONS = "resourcetemplate.karmada.io/managed-annotations";

/** A namespace with this label stays on the hub. */
export const SKIP_NAMESPACE = "namespace.karmada.io/skip-auto-propagation";
/** namespaces: on Works that carry a namespace, which one. */
export const NAMESPACE_LABEL = "flotilla.dev/namespace";
