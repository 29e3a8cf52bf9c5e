/**
 * Labels, annotations and finalizers that Karmada defined and its tools read. Each is written by the one stage named.
 */

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
/** The same for the bindings of objects that are in no namespace; `binding-scope.ts` puts them side by side. */
export const CLUSTER_BINDING_ID = "clusterresourcebinding.karmada.io/permanent-id";
export const CLUSTER_BINDING_NAME = "clusterresourcebinding.karmada.io/name";
export const CLUSTER_BINDING_FINALIZER = "karmada.io/cluster-resource-binding-controller";

/**
 * match, where the policy activates lazily: what the template was when its policy last took effect. On the binding, and
 * on a claimed template that has none yet. The binding follows the policy again once the template is another one.
 */
export const ACTIVATED_TEMPLATE = "flotilla.dev/activated-template";

/** schedule: the placement that `spec.clusters` follows from, as JSON. */
export const APPLIED_PLACEMENT = "policy.karmada.io/applied-placement";

/**
 * match, from the policy, for schedule: a binding that follows a later one of its `clusterAffinities` returns to an
 * earlier one that works again, once this many seconds have passed since it was last scheduled. Without it, it stays.
 */
export const RETURN_AFTER_SECONDS = "flotilla.dev/return-after-seconds";

/** failover: since when members of a binding are unhealthy, as JSON; only where the policy asks for failover. */
export const UNHEALTHY_SINCE = "flotilla.dev/unhealthy-since";
/** eviction: the last automatic moves of a binding, as JSON (`moves.ts`). */
export const MOVES = "flotilla.dev/moves";

/**
 * dependencies: what a binding's resource needs, as JSON; and on the binding of each of those, by whom it is needed.
 */
export const DEPENDENCIES = "resourcebinding.karmada.io/dependencies";
export const DEPENDED_BY_PREFIX = "resourcebinding.karmada.io/depended-by-";

/**
 * On an object: the namespaces with commas between them, or `*`, whose resources may take it along although it is not
 * in theirs. Without it only resources of its own namespace do, and those that are in no namespace.
 */
export const SHARED_WITH = "flotilla.dev/shared-with";

/** dispatch: on Works. */
export const APPLIED_OVERRIDES = "policy.karmada.io/applied-overrides";
export const APPLIED_CLUSTER_OVERRIDES = "policy.karmada.io/applied-cluster-overrides";
/** Held until execute has removed the manifests from the member. */
export const WORK_FINALIZER = "karmada.io/execution-controller";

/** dispatch: identity of a Work; on the Work, and on manifests as below. */
export const WORK_ID = "work.karmada.io/permanent-id";
/** dispatch: on manifests, and so on the objects of the members. */
export const WORK_NAMESPACE = "work.karmada.io/namespace";
export const WORK_NAME = "work.karmada.io/name";
export const CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution";
export const TEMPLATE_UID = "resourcetemplate.karmada.io/uid";
export const MANAGED_LABELS = "resourcetemplate.karmada.io/managed-labels";
export const MANAGED_ANNOTATIONS = "resourcetemplate.karmada.io/managed-annotations";

/**
 * execute: why a Work is not applied, for dispatch. Either the member did not get it, or no answer came to a request
 * that it may have got, which holds until the member answers, or an answer is still waited for, longer than usual.
 */
export const MEMBER_UNREACHABLE = "MemberUnreachable";
export const NO_ANSWER = "NoAnswer";
export const ANSWER_PENDING = "AnswerPending";

/** A namespace with this label stays on the hub. */
export const SKIP_NAMESPACE = "namespace.karmada.io/skip-auto-propagation";
/** namespaces: on Works that carry a namespace, which one. */
export const NAMESPACE_LABEL = "flotilla.dev/namespace";

/**
 * On a policy (match and dispatch carry it to the Work) or on a template, which counts more: what happens to fields
 * that somebody changes on a member. `repair` puts them back and is what happens without it, `report` tells of them and
 * leaves them.
 */
export const DRIFT = "flotilla.dev/drift";
/**
 * On a template: Flotilla lets its objects go and leaves them running, also when the template is deleted. `true`
 * everywhere, or the names of clusters with commas between them. Taking it off takes the objects back. The dependencies
 * stage repeats it on the binding.
 */
export const UNMANAGED = "flotilla.dev/unmanaged";
/**
 * dependencies: on the binding of what is needed, which of those who need it were let go, and where, as JSON
 * (`unmanaged.ts`).
 */
export const LET_GO_FOR = "flotilla.dev/let-go-for";
/** On a template, a label: the replicas of an existing copy are the member's. */
export const RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas";
