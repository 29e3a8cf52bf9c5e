export { AddOnPlacementScore } from "./add-on-placement-score.ts";
export { ocmAdmissions } from "./admissions.ts";
export { AppliedManifestWork } from "./applied-manifest-work.ts";
export { ClusterClaim } from "./cluster-claim.ts";
export {
  CONDITIONAL_DEPLOYMENT_ANNOTATION,
  REQUIRED_LABELS_ANNOTATION,
  isDeployedTo,
} from "./conditional-deployment.ts";
export { ocmHubKinds, ocmMemberDefinitions, ocmMemberKinds } from "./kinds.ts";
export { ManagedClusterSetBinding } from "./managed-cluster-set-binding.ts";
export { ManagedClusterSet } from "./managed-cluster-set.ts";
export { ManagedCluster } from "./managed-cluster.ts";
export { ManifestWorkReplicaSet } from "./manifest-work-replica-set.ts";
export { ManifestWork } from "./manifest-work.ts";
export type { IgnoreField, ManifestConfigOption, ManifestWorkSpec } from "./manifest-work.ts";
export {
  APPLIED_MANIFEST_WORK_FINALIZER,
  AUTOMATICALLY_ACCEPTED_ANNOTATION,
  AUTO_UPDATE_ANNOTATION,
  CLEANUP_PRIORITY_ANNOTATION,
  CLUSTER_GROUP,
  CLUSTER_ID_ANNOTATION,
  CLUSTER_LEASE,
  CLUSTER_NAME_LABEL,
  CLUSTER_RBAC_FINALIZER,
  CLUSTER_RESOURCES_FINALIZER,
  CLUSTER_SET_LABEL,
  CLUSTER_USER_PREFIX,
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  DEFAULT_CLUSTER_SET,
  GLOBAL_CLUSTER_SET,
  MANAGED_CLUSTERS_GROUP,
  MANIFEST_WORK_FINALIZER,
  MAX_MANIFEST_WORK_NAME,
  OCM_AGENT_NAMESPACE,
  OCM_HUB_NAMESPACE,
  OCM_NAMESPACE,
  PLACEMENT_LABEL,
  PLACEMENT_NAME_LABEL,
  REACHED_BY_HUB_ANNOTATION,
  REGISTER_GROUP,
  REPLICA_SET_FINALIZER,
  REPLICA_SET_LABEL,
  SCHEDULING_DISABLED_ANNOTATION,
  SKIP_CLOCK_CHECK_ANNOTATION,
  UNAVAILABLE_TAINT,
  UNREACHABLE_TAINT,
  WORK_AGENT_MANAGER,
  WORK_GROUP,
} from "./names.ts";
export { PlacementDecision } from "./placement-decision.ts";
export type { PlacementDecisionStatus } from "./placement-decision.ts";
export { usesUnboundDefault } from "./placement-rules.ts";
export { OcmPlacement } from "./placement.ts";
export type { OcmPlacementSpec } from "./placement.ts";
