/** The names that Open Cluster Management's controllers, agents and tools agree on. They are copied to the letter. */

export const CLUSTER_GROUP = "cluster.open-cluster-management.io";
export const WORK_GROUP = "work.open-cluster-management.io";
/**
 * Never stored: roles and access reviews name its resources when they speak of accepting clusters and renewing
 * certificates.
 */
export const REGISTER_GROUP = "register.open-cluster-management.io";

/** Where the hub's controllers run, where agents do, and where the bootstrap identity lives. */
export const OCM_HUB_NAMESPACE = "open-cluster-management-hub";
export const OCM_AGENT_NAMESPACE = "open-cluster-management-agent";
export const OCM_NAMESPACE = "open-cluster-management";

/** On ManagedCluster: the exclusive set that it belongs to. */
export const CLUSTER_SET_LABEL = "cluster.open-cluster-management.io/clusterset";
export const DEFAULT_CLUSTER_SET = "default";
export const GLOBAL_CLUSTER_SET = "global";
/** On a built-in set: `"false"` lets a changed selector stay. */
export const AUTO_UPDATE_ANNOTATION = "cluster.open-cluster-management.io/autoupdate";

/** On namespaces, requests for certificates, leases and roles: the ManagedCluster that they are for. */
export const CLUSTER_NAME_LABEL = "open-cluster-management.io/cluster-name";
export const ADDON_NAME_LABEL = "open-cluster-management.io/addon-name";
export const SPOKE_ONLY_LABEL = "open-cluster-management.io/spoke-only";
export const AUTOMATICALLY_ACCEPTED_ANNOTATION = "open-cluster-management.io/automatically-accepted-on";
export const CLEANUP_PRIORITY_ANNOTATION = "open-cluster-management.io/cleanup-priority";
export const IMAGE_REGISTRIES_ANNOTATION = "open-cluster-management.io/image-registries";
export const SKIP_CLOCK_CHECK_ANNOTATION = "registration.open-cluster-management.io/skip-clock-sync-check";
/** Annotations that an agent may give its own ManagedCluster start with this. */
export const AGENT_ANNOTATION_PREFIX = "agent.open-cluster-management.io";
/**
 * Ours, on ManagedCluster: which cluster it is, by the uid of its namespace kube-system, so that another one under its
 * name is noticed.
 */
export const CLUSTER_ID_ANNOTATION = `${AGENT_ANNOTATION_PREFIX}/cluster-id`;

/** Ours, on ManagedCluster: `"true"` where the hub reaches the member itself, so that no agent speaks for it. */
export const REACHED_ANNOTATION = "flotilla.dev/reached-by-hub";

export const UNREACHABLE_TAINT = "cluster.open-cluster-management.io/unreachable";
export const UNAVAILABLE_TAINT = "cluster.open-cluster-management.io/unavailable";

/** On ManagedCluster: roles are still to be removed; objects of its namespace are. */
export const CLUSTER_RBAC_FINALIZER = "cluster.open-cluster-management.io/api-resource-cleanup";
export const CLUSTER_RESOURCES_FINALIZER = "cluster.open-cluster-management.io/resource-cleanup";
/** In a cluster's namespace. */
export const CLUSTER_LEASE = "managed-cluster-lease";

/** On PlacementDecision. */
export const PLACEMENT_LABEL = "cluster.open-cluster-management.io/placement";
export const DECISION_GROUP_INDEX_LABEL = "cluster.open-cluster-management.io/decision-group-index";
export const DECISION_GROUP_NAME_LABEL = "cluster.open-cluster-management.io/decision-group-name";
/** On Placement: `"true"` makes the scheduler leave it alone. */
export const SCHEDULING_DISABLED_ANNOTATION = "cluster.open-cluster-management.io/experimental-scheduling-disable";

/** On ManifestWork, until its objects are gone from the member. */
export const MANIFEST_WORK_FINALIZER = "cluster.open-cluster-management.io/manifest-work-cleanup";
export const APPLIED_MANIFEST_WORK_FINALIZER = "cluster.open-cluster-management.io/applied-manifest-work-cleanup";
/** On ManifestWorkReplicaSet, and on the ManifestWorks that it makes. */
export const REPLICA_SET_FINALIZER = "work.open-cluster-management.io/manifest-work-cleanup";
export const REPLICA_SET_LABEL = "work.open-cluster-management.io/manifestworkreplicaset";
export const PLACEMENT_NAME_LABEL = "work.open-cluster-management.io/placementname";
/** A member notes a work under the hash of its hub, a dash and its name; a longer name can never be applied. */
export const MAX_MANIFEST_WORK_NAME = 253 - 64 - 1;
export const CONFIG_SPEC_HASH_ANNOTATION = "open-cluster-management.io/config-spec-hash";
export const OBJECT_HASH_ANNOTATION = "open-cluster-management.io/object-hash";

/** Field managers of server-side apply start with this, and so do the ones that a ManifestWork may ask for. */
export const WORK_AGENT_MANAGER = "work-agent";

/** Whom an agent is: `<prefix><cluster>:<agent>` in these groups. */
export const CLUSTER_USER_PREFIX = "system:open-cluster-management:";
export const MANAGED_CLUSTERS_GROUP = "system:open-cluster-management:managed-clusters";
