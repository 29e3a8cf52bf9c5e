/** Names shared by Open Cluster Management's controllers, agents and tools. They must match exactly. */

export const CLUSTER_GROUP = "cluster.open-cluster-management.io";
export const WORK_GROUP = "work.open-cluster-management.io";
/** Never stored: roles and access reviews use its resources for accepting clusters and renewing certificates. */
export const REGISTER_GROUP = "register.open-cluster-management.io";

/** Namespaces of the hub's controllers, the agents and the bootstrap identity. */
export const OCM_HUB_NAMESPACE = "open-cluster-management-hub";
export const OCM_AGENT_NAMESPACE = "open-cluster-management-agent";
export const OCM_NAMESPACE = "open-cluster-management";

/** On ManagedCluster: the exclusive set that it belongs to. */
export const CLUSTER_SET_LABEL = "cluster.open-cluster-management.io/clusterset";
export const DEFAULT_CLUSTER_SET = "default";
export const GLOBAL_CLUSTER_SET = "global";
/** On a built-in set: `"false"` keeps a changed selector. */
export const AUTO_UPDATE_ANNOTATION = "cluster.open-cluster-management.io/autoupdate";

/** On namespaces, certificate requests, leases and roles: their ManagedCluster. */
export const CLUSTER_NAME_LABEL = "open-cluster-management.io/cluster-name";
export const AUTOMATICALLY_ACCEPTED_ANNOTATION = "open-cluster-management.io/automatically-accepted-on";
export const CLEANUP_PRIORITY_ANNOTATION = "open-cluster-management.io/cleanup-priority";
export const SKIP_CLOCK_CHECK_ANNOTATION = "registration.open-cluster-management.io/skip-clock-sync-check";
/** The prefix of annotations that an agent may set on its own ManagedCluster. */
const AGENT_ANNOTATION_PREFIX = "agent.open-cluster-management.io";
/**
 * Ours, on ManagedCluster: identifies the cluster by the uid of its namespace kube-system, so that another cluster
 * under the same name is detected.
 */
export const CLUSTER_ID_ANNOTATION = `${AGENT_ANNOTATION_PREFIX}/cluster-id`;

/** Ours, on ManagedCluster: `"true"` when the hub reaches the member directly, without an agent. */
export const REACHED_BY_HUB_ANNOTATION = "flotilla.dev/reached-by-hub";

export const UNREACHABLE_TAINT = "cluster.open-cluster-management.io/unreachable";
export const UNAVAILABLE_TAINT = "cluster.open-cluster-management.io/unavailable";

/** Finalizers of ManagedCluster, for removing its roles and the objects of its namespace. */
export const CLUSTER_RBAC_FINALIZER = "cluster.open-cluster-management.io/api-resource-cleanup";
export const CLUSTER_RESOURCES_FINALIZER = "cluster.open-cluster-management.io/resource-cleanup";
/** In a cluster's namespace. */
export const CLUSTER_LEASE = "managed-cluster-lease";

/** On PlacementDecision. */
export const PLACEMENT_LABEL = "cluster.open-cluster-management.io/placement";
export const DECISION_GROUP_INDEX_LABEL = "cluster.open-cluster-management.io/decision-group-index";
export const DECISION_GROUP_NAME_LABEL = "cluster.open-cluster-management.io/decision-group-name";
/** On Placement: `"true"` disables scheduling. */
export const SCHEDULING_DISABLED_ANNOTATION = "cluster.open-cluster-management.io/experimental-scheduling-disable";

/** On ManifestWork, until its objects are removed from the member. */
export const MANIFEST_WORK_FINALIZER = "cluster.open-cluster-management.io/manifest-work-cleanup";
export const APPLIED_MANIFEST_WORK_FINALIZER = "cluster.open-cluster-management.io/applied-manifest-work-cleanup";
/** On ManifestWorkReplicaSet, and on the ManifestWorks that it creates. */
export const REPLICA_SET_FINALIZER = "work.open-cluster-management.io/manifest-work-cleanup";
export const REPLICA_SET_LABEL = "work.open-cluster-management.io/manifestworkreplicaset";
export const PLACEMENT_NAME_LABEL = "work.open-cluster-management.io/placementname";
/**
 * The name of an AppliedManifestWork is the hash of its hub, a dash and the work's name; a work with a longer name can
 * never be applied.
 */
export const MAX_MANIFEST_WORK_NAME = 253 - 64 - 1;

/** The prefix of field managers for server-side apply, including those that a ManifestWork requests. */
export const WORK_AGENT_MANAGER = "work-agent";

/** The identity of an agent: `<prefix><cluster>:<agent>` in these groups. */
export const CLUSTER_USER_PREFIX = "system:open-cluster-management:";
export const MANAGED_CLUSTERS_GROUP = "system:open-cluster-management:managed-clusters";
/** The group of bootstrap tokens with which agents request to join. */
export const OCM_TOKENS_GROUP = "system:bootstrappers:managedcluster";
