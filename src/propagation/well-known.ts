/**
 * Labels, annotations and finalizers that Karmada defines and its tools read. Each is written by the one stage named.
 */

/** match: the policy that claimed a template; on the template and its binding. */
export const POLICY_ID = "propagationpolicy.karmada.io/permanent-id";
export const POLICY_NAMESPACE = "propagationpolicy.karmada.io/namespace";
export const POLICY_NAME = "propagationpolicy.karmada.io/name";
export const CLUSTER_POLICY_ID = "clusterpropagationpolicy.karmada.io/permanent-id";
export const CLUSTER_POLICY_NAME = "clusterpropagationpolicy.karmada.io/name";

/** match: permanent id of a binding; dispatch repeats it on its Works and manifests. */
export const BINDING_ID = "resourcebinding.karmada.io/permanent-id";
export const BINDING_NAMESPACE = "resourcebinding.karmada.io/namespace";
export const BINDING_NAME = "resourcebinding.karmada.io/name";
/** Kept until dispatch has deleted the binding's Works. */
export const BINDING_FINALIZER = "karmada.io/binding-controller";
/** The same for bindings of cluster-scoped objects; `binding-scope.ts` combines both. */
export const CLUSTER_BINDING_ID = "clusterresourcebinding.karmada.io/permanent-id";
export const CLUSTER_BINDING_NAME = "clusterresourcebinding.karmada.io/name";
export const CLUSTER_BINDING_FINALIZER = "karmada.io/cluster-resource-binding-controller";

/**
 * match, for lazily activating policies: digest of the template when its policy last took effect. On the binding, and
 * on a claimed template without one. The binding follows the policy again once the template differs.
 */
export const ACTIVATED_TEMPLATE = "flotilla.dev/activated-template";

/** schedule: the placement that produced `spec.clusters`, as JSON. */
export const APPLIED_PLACEMENT = "policy.karmada.io/applied-placement";

/**
 * match, from the policy, for schedule: a binding that uses a later one of its `clusterAffinities` returns to an
 * earlier one that fits again, once this many seconds have passed since the last scheduling. Without it, the binding
 * stays.
 */
export const RETURN_AFTER_SECONDS = "flotilla.dev/return-after-seconds";

/** failover: since when members of a binding are unhealthy, as JSON; only if the policy enables failover. */
export const UNHEALTHY_SINCE = "flotilla.dev/unhealthy-since";
/** eviction: the last automatic moves of a binding, as JSON (`moves.ts`). */
export const MOVES = "flotilla.dev/moves";

/**
 * dependencies: the references of a binding's resource, as JSON; and on the binding of each dependency, its requirers.
 */
export const DEPENDENCIES = "resourcebinding.karmada.io/dependencies";
export const DEPENDED_BY_PREFIX = "resourcebinding.karmada.io/depended-by-";

/**
 * On an object: comma-separated namespaces, or `*`, whose resources may use it as a dependency from another namespace.
 * Without it only resources of its own namespace may, and cluster-scoped ones.
 */
export const SHARED_WITH = "flotilla.dev/shared-with";

/** dispatch: on Works. */
export const APPLIED_OVERRIDES = "policy.karmada.io/applied-overrides";
export const APPLIED_CLUSTER_OVERRIDES = "policy.karmada.io/applied-cluster-overrides";
/** Kept until execute has removed the manifests from the member. */
export const WORK_FINALIZER = "karmada.io/execution-controller";

/** dispatch: permanent id of a Work; on the Work, and on manifests as below. */
export const WORK_ID = "work.karmada.io/permanent-id";
/** dispatch: on manifests, and therefore on the members' objects. */
export const WORK_NAMESPACE = "work.karmada.io/namespace";
export const WORK_NAME = "work.karmada.io/name";
export const CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution";
export const TEMPLATE_UID = "resourcetemplate.karmada.io/uid";
export const MANAGED_LABELS = "resourcetemplate.karmada.io/managed-labels";
export const MANAGED_ANNOTATIONS = "resourcetemplate.karmada.io/managed-annotations";

/**
 * execute: why a Work is not applied, for dispatch. The member did not receive it; or a request that it may have
 * received was not answered, which holds until the member answers; or an answer is still pending for longer than usual.
 */
export const MEMBER_UNREACHABLE = "MemberUnreachable";
export const NO_ANSWER = "NoAnswer";
export const ANSWER_PENDING = "AnswerPending";

/** A namespace with this label is not propagated. */
export const SKIP_NAMESPACE = "namespace.karmada.io/skip-auto-propagation";
/** namespaces: on Works that contain a namespace, its name. */
export const NAMESPACE_LABEL = "flotilla.dev/namespace";

/**
 * On a policy (match and dispatch copy it to the Work) or on a template, which takes precedence: handling of fields
 * that are changed on a member. `repair` (default) restores them, `report` reports and keeps them.
 */
export const DRIFT = "flotilla.dev/drift";
/**
 * On a template: Flotilla releases its objects and leaves them running, even when the template is deleted. `true`
 * everywhere, or comma-separated cluster names. Removing it takes the objects back. The dependencies stage repeats it
 * on the binding.
 */
export const UNMANAGED = "flotilla.dev/unmanaged";
/**
 * dependencies: on the binding of a dependency, its unmanaged requirers and their clusters, as JSON (`unmanaged.ts`).
 */
export const LET_GO_FOR = "flotilla.dev/let-go-for";
/** On a template, a label: the member owns the replicas of an existing copy. */
export const RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas";
