export * from "./admission.ts";
export { builtInAdmissions, createBuiltInAdmissions } from "./admissions.ts";
export type { KruiseGate, KruiseGates } from "./kruise/gates.ts";
export { customResourceDefinitionOf, kindOfCustomResourceDefinition } from "./definitions.ts";
export { canonicalObject, checkMetadata, decodedPart } from "./canonical.ts";
export { kindSchema, structOf } from "./facts.ts";
export type { FactField, FactStruct, FactType, Leaf } from "./facts.ts";
export * from "./kind.ts";
export { kubernetesKinds } from "./kubernetes-kinds.ts";
export * from "./meta.ts";
export { decodeProtobuf } from "./protobuf.ts";

export { ConfigMap } from "./core/config-map.ts";
export { Endpoints } from "./core/endpoints.ts";
export { Event } from "./core/event.ts";
export { Namespace, asNewNamespace } from "./core/namespace.ts";
export { Node } from "./core/node.ts";
export { matchesAnyTerm, matchesTerm, tolerates, toleratesTaint, matchesNode as wantsNode } from "./core/node-fit.ts";
export { PersistentVolumeClaim, prepareClaim } from "./core/persistent-volume-claim.ts";
export { PersistentVolume } from "./core/persistent-volume.ts";
export { Pod } from "./core/pod.ts";
export { completePod } from "./core/pod-defaults.ts";
export { qosClassOf } from "./core/pod-prepare.ts";
export { Binding } from "./core/pod-binding.ts";
export { Eviction } from "./core/pod-eviction.ts";
export { PodTemplate } from "./core/pod-template.ts";
export { ReplicationController } from "./core/replication-controller.ts";
export { containerTotals } from "./core/pod-resources.ts";
export { Secret } from "./core/secret.ts";
export { Service } from "./core/service.ts";
export { EndpointSlice } from "./discovery/endpoint-slice.ts";
export { DEFAULT_INGRESS_CLASS, IngressClass } from "./networking/ingress-class.ts";
export { INGRESS_CLASS_ANNOTATION, Ingress } from "./networking/ingress.ts";
export { addressNameProblems } from "./networking/addresses.ts";
export { IPAddress, addressOfService, isAllocated } from "./service-cidr/ip-address.ts";
export { NetworkPolicy } from "./networking/network-policy.ts";
export { DEFAULT_SERVICE_CIDR, ServiceCIDR, defaultServiceCidr, usableRanges } from "./service-cidr/service-cidr.ts";
export { DeviceClass } from "./dra/device-class.ts";
export { ResourceClaimTemplate } from "./dra/resource-claim-template.ts";
export { changedDrivers, nodeOfAllocation, prepareClaimStatus } from "./dra/claim-status.ts";
export { ResourceClaim } from "./dra/resource-claim.ts";
export { ResourceSlice } from "./dra/resource-slice.ts";
export { CSIDriver } from "./csi/csi-driver.ts";
export { CSINode } from "./csi/csi-node.ts";
export { CSIStorageCapacity } from "./csi/csi-storage-capacity.ts";
export { VolumeAttachment } from "./csi/volume-attachment.ts";
export { VolumeAttributesClass } from "./csi/volume-attributes-class.ts";
export { STORAGE_CLASS_ANNOTATION, StorageClass, isDefaultStorageClass } from "./storage/storage-class.ts";
export { SERVICE_RANGE, apiServerService } from "./core/service-bootstrap.ts";
export {
  allocatedToService as heldByService,
  prepareService,
  type Allocated as Drawn,
  type ServicePools,
} from "./core/service-prepare.ts";
export { ServiceAccount } from "./core/service-account.ts";
export { SelfSubjectReview } from "./authentication/self-subject-review.ts";
export { TokenRequest } from "./authentication/token-request.ts";
export { TokenReview } from "./authentication/token-review.ts";
export { checkAccessReview, checkLocalAttributes } from "./authorization/access-review-rules.ts";
export { LocalSubjectAccessReview } from "./authorization/local-subject-access-review.ts";
export { SelfSubjectAccessReview } from "./authorization/self-subject-access-review.ts";
export { SelfSubjectRulesReview } from "./authorization/self-subject-rules-review.ts";
export { SubjectAccessReview } from "./authorization/subject-access-review.ts";
export { aggregatedRules } from "./rbac/aggregated-rules.ts";
export { bootstrapRbac } from "./rbac/bootstrap-objects.ts";
export { ControllerRevision } from "./apps/controller-revision.ts";
export { Deployment } from "./apps/deployment.ts";
export { ReplicaSet } from "./apps/replica-set.ts";
export { StatefulSet } from "./apps/stateful-set.ts";
export { DaemonSet } from "./apps/daemon-set.ts";
export { CronJob } from "./batch/cron-job.ts";
export { readSchedule, zoneProblem, type CronField, type CronSchedule } from "./batch/cron-schedule.ts";
export { Job } from "./batch/job.ts";
export { CertificateSigningRequest, requestState } from "./certificates/certificate-signing-request.ts";
export { CLIENT_SIGNER, KUBELET_CLIENT_SIGNER, KUBELET_SERVING_SIGNER } from "./certificates/signer-names.ts";
export { Lease } from "./coordination/lease.ts";
export { HorizontalPodAutoscaler } from "./autoscaling/horizontal-pod-autoscaler.ts";
export { LimitRange } from "./core/limit-range.ts";
export { ResourceQuota } from "./core/resource-quota.ts";
export { EventsEvent } from "./events/event.ts";
export { RuntimeClass } from "./node/runtime-class.ts";
export { PodDisruptionBudget } from "./policy/pod-disruption-budget.ts";
export { ClusterRole } from "./rbac/cluster-role.ts";
export { ClusterRoleBinding } from "./rbac/cluster-role-binding.ts";
export { Role } from "./rbac/role.ts";
export { RoleBinding } from "./rbac/role-binding.ts";
export { PriorityClass, systemPriorityClasses } from "./scheduling/priority-class.ts";
export {
  addAmounts,
  exceeding,
  onlyAmounts,
  readAmounts,
  sameAmounts,
  subtractAmounts,
  withoutZeros,
  writeAmounts,
  type Amounts,
} from "./quota/amounts.ts";
export { countName, quotaEvaluatorOf, quotaMatches, resourceOfCount, type QuotaEvaluator } from "./quota/evaluator.ts";
export { CustomResourceDefinition } from "./apiextensions/custom-resource-definition.ts";
export { APPROVAL, approvalOf, isProtectedGroup } from "./apiextensions/definition-rules.ts";
export { Cluster } from "./karmada/cluster.ts";
export { ClusterOverridePolicy } from "./karmada/cluster-override-policy.ts";
export { ClusterPropagationPolicy } from "./karmada/cluster-propagation-policy.ts";
export { ClusterResourceBinding } from "./karmada/cluster-resource-binding.ts";
export {
  ClusterTaintPolicy,
  createClusterTaintPolicyAdmissions,
  type ClusterTaintPolicyOptions,
} from "./karmada/cluster-taint-policy.ts";
export { OverridePolicy } from "./karmada/override-policy.ts";
export { PropagationPolicy } from "./karmada/propagation-policy.ts";
export {
  MAX_STATUS_CLUSTERS,
  MAX_STATUS_PROBLEMS,
  type PolicyProblem,
  type PolicyStatus,
} from "./karmada/policy-status.ts";
export { selectsClusterScoped } from "./karmada/selector-rules.ts";
export { ResourceBinding } from "./karmada/resource-binding.ts";
export { ResourceInterpreterCustomization } from "./karmada/resource-interpreter-customization.ts";
export { ResourceInterpreterWebhookConfiguration } from "./karmada/resource-interpreter-webhook-configuration.ts";
export { Work } from "./karmada/work.ts";
export { createWorkAdmissions } from "./karmada/work-rules.ts";
export { WorkloadRebalancer } from "./karmada/workload-rebalancer.ts";
export {
  LOGICAL_CLUSTER_FINALIZER,
  LogicalCluster,
  logicalClusterAdmission,
  logicalClusterKind,
} from "./flotilla/logical-cluster.ts";
export { FLOTILLA_GROUP, flotillaUser } from "./flotilla/identity.ts";
export * from "./flotilla/names.ts";
export { AdvancedDaemonSet } from "./kruise/advanced-daemon-set.ts";
export { AdvancedStatefulSet } from "./kruise/advanced-stateful-set.ts";
export { BroadcastJob } from "./kruise/broadcast-job.ts";
export { CloneSet } from "./kruise/clone-set.ts";
export { convertsWithoutWebhook, kruiseKinds } from "./kruise/kinds.ts";
export { fieldsLostIn } from "./kruise/lost-fields.ts";
export { PodUnavailableBudget } from "./kruise/pod-unavailable-budget.ts";
export { SidecarSet } from "./kruise/sidecar-set.ts";
export {
  SIDECAR_SET_HASH_ANNOTATION,
  SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION,
  sidecarSetHashedText,
  sidecarSetHashes,
  type SidecarSetHashes,
} from "./kruise/sidecar-set-hash.ts";
export {
  evaluateExpression,
  expressionQuantity,
  type ExpressionResult,
  type ExpressionValue,
} from "./kruise/resource-expression.ts";
export { UnitedDeployment } from "./kruise/united-deployment.ts";
export { subsetReplicas } from "./kruise/united-deployment-subsets.ts";
export { Workflow } from "./argo/workflow.ts";
export * from "./ocm/index.ts";

export type { JSONSchemaProps } from "./facts/apiextensions-v1.ts";
export type {
  DeploymentSpec,
  DeploymentStatus,
  DeploymentCondition,
  ReplicaSetSpec,
  ReplicaSetStatus,
} from "./facts/apps-v1.ts";
export type {
  Container,
  ContainerPort,
  ContainerState,
  ContainerStatus,
  NodeCondition,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  ObjectReference,
  PodCondition,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
  ResourceRequirements,
  ServicePort,
  Taint,
  Toleration,
  Volume,
} from "./facts/core-v1.ts";
export type { Condition, LabelSelector, LabelSelectorRequirement } from "./facts/meta-v1.ts";
export type { PolicyRule, RoleRef } from "./facts/rbac-v1.ts";
export type { IntOrString, Quantity } from "./facts/scalars.ts";
export type {
  CustomizationRules,
  ResourceInterpreterWebhook,
  RuleWithOperations,
} from "./facts/config-karmada-v1alpha1.ts";
export type {
  APIEnablement,
  ClusterSpec,
  ClusterStatus,
  ResourceModel,
  ResourceSummary,
} from "./facts/cluster-karmada-v1alpha1.ts";
export type {
  ClusterAffinity,
  ClusterPreferences,
  CommandArgsOverrider,
  FieldOverrider,
  ImageOverrider,
  LabelAnnotationOverrider,
  OverrideSpec,
  Overriders,
  Placement,
  PlaintextOverrider,
  PropagationSpec,
  ReplicaSchedulingStrategy,
  ResourceSelector,
  RuleWithCluster,
  StaticClusterWeight,
} from "./facts/policy-karmada-v1alpha1.ts";
export type { ManifestStatus, ResourceIdentifier, WorkSpec, WorkStatus } from "./facts/work-karmada-v1alpha1.ts";
export type {
  AggregatedStatusItem,
  GracefulEvictionTask,
  ObjectReference as BindingObjectReference,
  ReplicaRequirements as BindingReplicaRequirements,
  ResourceBindingSpec,
  ResourceBindingStatus,
  TargetCluster,
} from "./facts/work-karmada-v1alpha2.ts";
export type { CloneSetCondition, CloneSetStatus } from "./facts/apps-kruise-v1alpha1.ts";
export type {
  CloneSetInPlaceUpdateStrategy,
  CloneSetRollingUpdate,
  CloneSetScaleStrategy,
  CloneSetSpec,
  CloneSetUpdateStrategy,
  CloneSetV1alpha1,
} from "./kruise/clone-set-types.ts";
export type {
  BroadcastJobSpec,
  BroadcastJobStatus,
  JobCondition as BroadcastJobCondition,
} from "./facts/apps-kruise-v1beta1.ts";
export type { InPlaceUpdateStrategy, Lifecycle, LifecycleHook, UpdatePriorityStrategy } from "./facts/pub-kruise.ts";
export type * from "./kruise/advanced-daemon-set-types.ts";
export type * from "./kruise/advanced-stateful-set-types.ts";
export type * from "./kruise/pod-unavailable-budget-types.ts";
export type * from "./kruise/sidecar-set-types.ts";
export type * from "./kruise/united-deployment-types.ts";
export type * from "./argo/workflow-types.ts";
export * from "./karmada/names.ts";
export type { Event as EventFacts } from "./facts/core-v1.ts";
export type { Lease as LeaseFacts } from "./facts/coordination-v1.ts";
