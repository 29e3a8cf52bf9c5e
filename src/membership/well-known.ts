/** Names that join, unjoin and the cluster controllers share with Karmada's tools, and a few of our own. */

/** Keeps a Cluster until its execution namespace is deleted. */
export const CLUSTER_FINALIZER = "karmada.io/cluster-controller";
/** Keeps a Work until its objects on the member are deleted. */
export const WORK_FINALIZER = "karmada.io/execution-controller";
export const SYSTEM_LABEL = "karmada.io/system";
export const SYSTEM_LABELS: Readonly<Record<string, string>> = Object.freeze({ [SYSTEM_LABEL]: "true" });

/** The namespace in which agents of pull members renew a Lease named like the Cluster. */
export const LEASE_NAMESPACE = "karmada-cluster";

export const NOT_READY_TAINT = "cluster.karmada.io/not-ready";
export const UNREACHABLE_TAINT = "cluster.karmada.io/unreachable";

/** The keys of a credential Secret. */
export const TOKEN_KEY = "token";
export const CA_KEY = "caBundle";

/** The name of the ClusterRole and its binding that let the hub impersonate its users on a member. */
export const IMPERSONATOR = "karmada-impersonator";

/**
 * On a Cluster that is being deleted: propagated objects are deleted on the member. Without it the member keeps them.
 */
export const PURGE_ANNOTATION = "flotilla.dev/purge";
/** On a Cluster that is being deleted: the hub does not wait for the member, and leaves its objects unchanged. */
export const FORCE_ANNOTATION = "flotilla.dev/force-unjoin";

/** The condition that reports what an unjoin waits for. */
export const UNJOINING = "Unjoining";
