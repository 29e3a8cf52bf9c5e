/** The labels, annotations, reasons and conditions that Flotilla itself defines and that several folders use. */

// Policies and templates; written by users.

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
 * On an object: comma-separated namespaces, or `*`, whose resources may use it as a dependency from another namespace.
 * Without it only resources of its own namespace may, and cluster-scoped ones.
 */
export const SHARED_WITH = "flotilla.dev/shared-with";

// Bindings.

/**
 * match, for lazily activating policies: digest of the template when its policy last took effect. On the binding, and
 * on a claimed template without one. The binding follows the policy again once the template differs.
 */
export const ACTIVATED_TEMPLATE = "flotilla.dev/activated-template";
/**
 * match, from the policy, for schedule: a binding that uses a later one of its `clusterAffinities` returns to an
 * earlier one that fits again, once this many seconds have passed since the last scheduling. Without it, the binding
 * stays.
 */
export const RETURN_AFTER_SECONDS = "flotilla.dev/return-after-seconds";
/** failover: since when members of a binding are unhealthy, as JSON; only if the policy enables failover. */
export const UNHEALTHY_SINCE = "flotilla.dev/unhealthy-since";
/** eviction: the last automatic moves of a binding, as JSON (`propagation/moves.ts`). */
export const MOVES = "flotilla.dev/moves";
/**
 * dependencies: on the binding of a dependency, its unmanaged requirers and their clusters, as JSON
 * (`propagation/unmanaged.ts`).
 */
export const UNMANAGED_FOR = "flotilla.dev/unmanaged-for";

// Works.

/** namespaces: on Works that contain a namespace, its name. */
export const NAMESPACE_LABEL = "flotilla.dev/namespace";
/** execute, the reason why a Work is not applied: the member did not receive it. */
export const MEMBER_UNREACHABLE = "MemberUnreachable";
/** execute: a request that the member may have received was not answered. Holds until the member answers. */
export const NO_ANSWER = "NoAnswer";
/** execute: an answer is pending for longer than usual. */
export const ANSWER_PENDING = "AnswerPending";

// Clusters.

/**
 * On a Cluster that is being deleted: propagated objects are deleted on the member. Without it the member keeps them.
 */
export const PURGE_ANNOTATION = "flotilla.dev/purge";
/** On a Cluster that is being deleted: the hub does not wait for the member, and leaves its objects unchanged. */
export const FORCE_ANNOTATION = "flotilla.dev/force-unjoin";
/** The condition that reports what an unjoin waits for. */
export const UNJOINING = "Unjoining";

/** The Lease of the process that leads the hub's controllers, in Karmada's namespace. */
export const CONTROLLERS_LEASE = "flotilla-controllers";
