/** The names that join, unjoin and the cluster's controllers share with Karmada's tools, and the few of our own. */

/** Holds a Cluster until its execution namespace is gone. */
export const CLUSTER_FINALIZER = "karmada.io/cluster-controller";
/** Holds a Work until what it put on its member is gone. */
export const WORK_FINALIZER = "karmada.io/execution-controller";
export const SYSTEM_LABEL = "karmada.io/system";
export const SYSTEM_LABELS: Readonly<Record<string, string>> = Object.freeze({ [SYSTEM_LABEL]: "true" });

/** Where agents of members that pull renew a Lease, named like the Cluster. */
export const LEASE_NAMESPACE = "karmada-cluster";

export const NOT_READY_TAINT = "cluster.karmada.io/not-ready";
export const UNREACHABLE_TAINT = "cluster.karmada.io/unreachable";

/** The keys of a credential Secret. */
export const TOKEN_KEY = "token";
export const CA_KEY = "caBundle";

/** Of the ClusterRole and its binding that let the hub act as the hub's users on a member. */
export const IMPERSONATOR = "karmada-impersonator";

/**
 * On a Cluster that is being deleted: what was propagated to the member is deleted there. Without it the member keeps
 * running it.
 */
export const PURGE_ANNOTATION = "flotilla.dev/purge";
/** On a Cluster that is being deleted: the member is not waited for; what is there stays as it is. */
export const FORCE_ANNOTATION = "flotilla.dev/force-unjoin";

/** The condition that says what an unjoin waits for. */
export const UNJOINING = "Unjoining";
