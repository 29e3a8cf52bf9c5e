export { AddOnPlacementScore } from "./add-on-placement-score.ts";
export { AppliedManifestWork } from "./applied-manifest-work.ts";
export { ClusterClaim } from "./cluster-claim.ts";
export {
  CONDITIONAL_DEPLOYMENT_ANNOTATION,
  REQUIRED_LABELS_ANNOTATION,
  isDeployedTo,
  requiredLabels,
} from "./conditional-deployment.ts";
export { ocmHubKinds, ocmMemberDefinitions, ocmMemberKinds } from "./kinds.ts";
export { ManagedClusterSetBinding } from "./managed-cluster-set-binding.ts";
export { ManagedClusterSet } from "./managed-cluster-set.ts";
export { ManagedCluster } from "./managed-cluster.ts";
export { ManifestWorkReplicaSet, type ManifestWorkReplicaSetSpec } from "./manifest-work-replica-set.ts";
export {
  ManifestWork,
  type IgnoreField,
  type ManifestConfigOption,
  type ManifestWorkSpec,
  type ServerSideApplyConfig,
  type UpdateStrategy,
} from "./manifest-work.ts";
export { MAX_MANIFESTS_BYTES } from "./manifest-rules.ts";
export * from "./names.ts";
export { PlacementDecision, type ClusterDecision, type PlacementDecisionStatus } from "./placement-decision.ts";
export { usesUnboundDefault } from "./placement-rules.ts";
export { OcmPlacement, type OcmPlacementSpec, type OcmPlacementStatus } from "./placement.ts";

export type {
  ClientConfig,
  ClusterSetManagedNamespaceConfig,
  ManagedClusterClaim,
  ManagedClusterSpec,
  ManagedClusterStatus,
  Taint as ManagedClusterTaint,
} from "../facts/cluster-ocm-v1.ts";
export type {
  ManagedClusterSelector,
  ManagedClusterSetBindingSpec,
  ManagedClusterSetBindingStatus,
  ManagedClusterSetSpec,
  ManagedClusterSetStatus,
} from "../facts/cluster-ocm-v1beta2.ts";
export type {
  AddOnScore,
  ClusterCelSelector,
  ClusterClaimSelector,
  ClusterPredicate,
  ClusterSelector,
  DecisionGroup,
  DecisionGroupStatus,
  DecisionStrategy,
  GroupClusterSelector,
  GroupStrategy,
  PrioritizerConfig,
  PrioritizerPolicy,
  ScoreCoordinate,
  SpreadConstraintsTerm,
  SpreadPolicy,
  Toleration as PlacementToleration,
} from "../facts/cluster-ocm-v1beta1.ts";
export type {
  AddOnPlacementScoreItem,
  AddOnPlacementScoreStatus,
  ClusterClaimSpec,
  MandatoryDecisionGroup,
  MandatoryDecisionGroups,
  RolloutAll,
  RolloutConfig,
  RolloutProgressive,
  RolloutProgressivePerGroup,
  RolloutStrategy,
} from "../facts/cluster-ocm-v1alpha1.ts";
export type {
  AppliedManifestResourceMeta,
  AppliedManifestWorkSpec,
  AppliedManifestWorkStatus,
  ConditionRule,
  DeleteOption,
  FeedbackRule,
  FeedbackValue,
  FieldValue,
  JsonPath as FeedbackJsonPath,
  Manifest,
  ManifestCondition,
  ManifestResourceMeta,
  ManifestResourceStatus,
  ManifestWorkExecutor,
  ManifestWorkExecutorSubject,
  ManifestWorkStatus,
  ManifestsTemplate,
  ResourceIdentifier as ManifestResourceIdentifier,
  SelectivelyOrphan,
  StatusFeedbackResult,
} from "../facts/work-ocm-v1.ts";
export type {
  LocalPlacementReference,
  ManifestWorkReplicaSetStatus,
  ManifestWorkReplicaSetSummary,
  PlacementSummary,
} from "../facts/work-ocm-v1alpha1.ts";
