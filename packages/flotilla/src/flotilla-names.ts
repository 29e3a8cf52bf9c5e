/** The labels, annotations, reasons and conditions that Flotilla itself defines and that several folders use. */

// Policies and templates; written by users.

/**
 * On a policy (match and dispatch copy it to the Work) or on a template, which takes precedence: handling of fields
 * that are changed on a member. `repair` (default) restores them, `report` reports and keeps them.
 */
export const DRIFT = "flotilla.dev/drift";
/**
 * On a template: Flotilla releases its objects and leaves them running, even when the template is deleted. `true`
 * everywhere, or comma-separated cluster names. Removing it reclaims the objects. The dependencies stage repeats it
 * on the binding.
 */
export const UNMANAGED = "flotilla.dev/unmanaged";
/**
 * On an object: comma-separated namespaces, or `*`, whose resources may use it as a dependency from another namespace.
 * Without it only resources of its own namespace may, and cluster-scoped ones.
 */
export const SHARED_WITH = "flotilla.dev/shared-with";

/**
 * On a policy (match copies it to the binding) or on a Job, which takes precedence: `true` runs a Job again where it
 * moves to, also a finished one. Without it, only what is not finished moves.
 */
export const RERUN_JOBS = "flotilla.dev/rerun-jobs";

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
/** On a FederatedHPA: how members whose metrics cannot be read count (`conservative`, `ignore` or `hold`). */
export const MISSING_METRICS = "flotilla.dev/missing-metrics";
/** eviction: the last automatic moves of a binding, as JSON (`propagation/moves/move-history.ts`). */
export const MOVES = "flotilla.dev/moves";
/** dispatch: the completions of a Job that members finished before it left them, as JSON (`propagation/jobs/job-record.ts`). */
export const JOB_RECORD = "flotilla.dev/job-record";
/** dispatch: the assignment of a FleetRollout for which a member's copy was made (`dispatch/release-copies.ts`). */
export const RELEASE_STEP = "flotilla.dev/release-step";
/** In that assignment: the copy has the revision before, and keeps as many pods of the release. */
export const STEP_KEEPS = "~";
/** In that assignment, before what it was made for: the generation of the FleetRollout, and the wave. */
export const STEP_REQUEST = "#";
/** reflect, a condition: the member's controller has observed the copy for the step of a release that the message names. */
export const RELEASE_OBSERVED = "ReleaseObserved";
/** aggregate, a condition of a binding: the release of its template is complete (`aggregate/count-release.ts`). */
export const RELEASED = "Released";
/** match: the pods that a template names for deletion, and their members, as JSON (`propagation/pods-to-delete/named-pods.ts`). */
export const NAMED_PODS = "flotilla.dev/named-pods";
/** dispatch: the pods that a member's copy was given for deletion, separated by commas. */
export const PODS_TO_DELETE = "flotilla.dev/pods-to-delete";
/**
 * dependencies: on the binding of a dependency, its unmanaged requirers and their clusters, as JSON
 * (`propagation/members/unmanaged.ts`).
 */
export const UNMANAGED_FOR = "flotilla.dev/unmanaged-for";

/** dispatch, a condition: False while a copy cannot be made or its Work cannot be written, for any member. */
export const DISPATCHED = "Dispatched";
/** Its reason where the hub's own API server does not store a Work. */
export const WORKS_REJECTED = "WorksRejected";
/**
 * aggregate, a condition: the sum has the last numbers of members that are not ready or unreachable, that no longer
 * serve the kind, or whose status cannot be read.
 */
export const STALE = "Stale";

// Works.

/** dispatch: the generation of the template with which the pods of the copy last changed (`propagation/works/pods-since.ts`). */
export const PODS_SINCE = "flotilla.dev/pods-since";
/** dispatch, namespaces: a digest of what people asked for with the last change of the copy (`propagation/works/request-digest.ts`). */
export const REQUEST = "flotilla.dev/request";
/** namespaces: on Works that contain a namespace, its name. */
export const NAMESPACE_LABEL = "flotilla.dev/namespace";
/** reflect, a condition: `False` while a rule fails for the member's object; the reason names the rule. */
export const INTERPRETED = "Interpreted";
/** The condition of a Work whose member decides how many replicas its object has. */
export const REPLICAS_LEFT = "ReplicasLeft";
/** The condition of a Work whose member keeps images by a user's Retain rule; its message names them. */
export const RELEASE_LEFT = "ReleaseLeft";
/**
 * execute, Karmada's reason why a Work is not applied: the member rejected it, or the hub did not send it (a rule failed,
 * or the member has an object of that name that the hub does not manage).
 */
export const APPLIED_FAILED = "AppliedFailed";
/** execute, the reason why a Work is not applied: the member did not receive it. */
export const MEMBER_UNREACHABLE = "MemberUnreachable";
/** execute: the member does not serve the kind of an object. */
export const KIND_NOT_SERVED = "KindNotServed";
/** execute: a request that the member may have received was not answered. Holds until the member answers. */
export const NO_ANSWER = "NoAnswer";
/** execute: an answer is pending for longer than usual. */
export const ANSWER_PENDING = "AnswerPending";
/** execute: a rule lets a release reach more pods of the member than asked, so it is not sent. */
export const RELEASE_STOPPED = "ReleaseStopped";
/** execute: the member lost the object during a release, so it gets another copy before it is created again. */
export const RELEASE_STARTS_OVER = "ReleaseStartsOver";
/**
 * execute: the hub changed a field of the member's object back and forth, or a Retain rule gave it another value each
 * time, so the hub no longer writes the object.
 */
export const OSCILLATING = "Oscillating";
/** execute: the reason of a deleted Work whose object the member still has, because a finalizer holds it. */
export const TERMINATING = "Terminating";
/** execute: the reasons of a member that answers, and keeps what it has because the hub does not write to it. */
export const STOPPED_REASONS: ReadonlySet<string> = new Set([RELEASE_STOPPED, OSCILLATING]);

// Clusters.

/**
 * On a Cluster that is being deleted: propagated objects are deleted on the member. Without it the member keeps them.
 */
export const PURGE_ANNOTATION = "flotilla.dev/purge";
/** On a Cluster that is being deleted: the hub does not wait for the member, and leaves its objects unchanged. */
export const FORCE_ANNOTATION = "flotilla.dev/force-unjoin";
/**
 * A NoExecute taint on a Cluster, set by `flotilla drain`: workloads leave the member even if their policy does not
 * configure failover, unless it tolerates the taint.
 */
export const DRAIN_TAINT = "flotilla.dev/drain";
/** The condition that reports what an unjoin waits for. */
export const UNJOINING = "Unjoining";

// Join tokens.

/** A label of the Secret of a join token: it is deleted once a certificate was issued with it. */
export const SINGLE_USE_TOKEN = "flotilla.dev/single-use";

/** The Lease of the process that leads the hub's controllers, in Karmada's namespace. */
export const CONTROLLERS_LEASE = "flotilla-controllers";

/** Of an installation on an existing cluster: has the programs, their accounts and their certificates. */
export const INSTALL_NAMESPACE = "flotilla-system";

/** On a simulated Cluster: how its network fails, such as `unreachable`. */
export const SIMULATED_FAULT = "simulation.flotilla.dev/fault";

/** match: a policy's problems that only the failed write of a claim or a binding shows. */
export const BINDING_REJECTED = "BindingRejected";
export const CLAIM_REJECTED = "ClaimRejected";
export const APPLY_POLICY_FAILED = "ApplyPolicyFailed";
