export { AddOnPlacementScore } from "./addonplacementscore/addonplacementscore-kind.ts";
export { AppliedManifestWork } from "./appliedmanifestwork/appliedmanifestwork-kind.ts";
export { ClusterClaim } from "./clusterclaim/clusterclaim-kind.ts";
export {
  CONDITIONAL_DEPLOYMENT_ANNOTATION,
  REQUIRED_LABELS_ANNOTATION,
  isDeployedTo,
} from "./manifestwork/conditional-deployment.ts";
export { ocmAdmissions, ocmDefinitions, ocmHubKinds, ocmMemberDefinitions, ocmMemberKinds } from "./ocm-definitions.ts";
export { ManagedClusterSetBinding } from "./managedclustersetbinding/managedclustersetbinding-kind.ts";
export { ManagedClusterSet } from "./managedclusterset/managedclusterset-kind.ts";
export { ManagedCluster } from "./managedcluster/managedcluster-kind.ts";
export { ManifestWorkReplicaSet } from "./manifestworkreplicaset/manifestworkreplicaset-kind.ts";
export { ManifestWork } from "./manifestwork/manifestwork-kind.ts";
export type { IgnoreField, ManifestConfigOption, ManifestWorkSpec } from "./manifests/manifest-work-spec.ts";
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
  OCM_TOKENS_GROUP,
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
} from "./ocm-names.ts";
export { PlacementDecision } from "./placementdecision/placementdecision-kind.ts";
export type { PlacementDecisionStatus } from "./placementdecision/placementdecision-kind.ts";
export { usesUnboundDefault } from "./placement/placement-rules.ts";
export { OcmPlacement } from "./placement/placement-kind.ts";
export type { OcmPlacementSpec } from "./placement/placement-kind.ts";
export { compileClusterSelector, compileConditionRule, createScoreLibrary } from "./expressions/cluster-expressions.ts";
