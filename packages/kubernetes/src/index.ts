export { customResourceDefinitionOf, kindOfCustomResourceDefinition } from "./api/apiextensions/crd-of-kind.ts";
export { CustomResourceDefinition } from "./api/apiextensions/custom-resource-definition.ts";
export { APPROVAL, approvalOf, isProtectedGroup } from "./api/apiextensions/definition-rules.ts";
export { ControllerRevision } from "./api/apps/controller-revision.ts";
export { DaemonSet } from "./api/apps/daemon-set.ts";
export { Deployment } from "./api/apps/deployment.ts";
export { ReplicaSet } from "./api/apps/replica-set.ts";
export { StatefulSet } from "./api/apps/stateful-set.ts";
export { SelfSubjectReview } from "./api/authentication/self-subject-review.ts";
export { TokenRequest } from "./api/authentication/token-request.ts";
export { TokenReview } from "./api/authentication/token-review.ts";
export { checkAccessReview, checkLocalAttributes } from "./api/authorization/access-review-rules.ts";
export { LocalSubjectAccessReview } from "./api/authorization/local-subject-access-review.ts";
export { SelfSubjectAccessReview } from "./api/authorization/self-subject-access-review.ts";
export { SelfSubjectRulesReview } from "./api/authorization/self-subject-rules-review.ts";
export { SubjectAccessReview } from "./api/authorization/subject-access-review.ts";
export { HorizontalPodAutoscaler } from "./api/autoscaling/horizontal-pod-autoscaler.ts";
export { CronJob } from "./api/batch/cron-job.ts";
export { Job } from "./api/batch/job.ts";
export { CertificateSigningRequest, requestState } from "./api/certificates/certificate-signing-request.ts";
export { CLIENT_SIGNER } from "./api/certificates/signer-names.ts";
export { Lease } from "./api/coordination/lease.ts";
export { ConfigMap } from "./api/core/config-map.ts";
export { Endpoints } from "./api/core/endpoints.ts";
export { Event } from "./api/core/event.ts";
export { LimitRange } from "./api/core/limit-range.ts";
export { Namespace, asNewNamespace } from "./api/core/namespace.ts";
export { matchesAnyTerm, matchesNode, matchesTerm, tolerates, toleratesTaint } from "./api/core/node-fit.ts";
export { checkNodeSelectorTerm } from "./api/core/node-selector.ts";
export { Node } from "./api/core/node.ts";
export { PersistentVolumeClaim, prepareClaim } from "./api/core/persistent-volume-claim.ts";
export { PersistentVolume } from "./api/core/persistent-volume.ts";
export { checkAnnotationKeys, checkPodAnnotations } from "./api/core/pod-annotations.ts";
export { Binding } from "./api/core/pod-binding.ts";
export { completePod, defaultContainer, defaultPodTemplate, defaultVolume } from "./api/core/pod-defaults.ts";
export { Eviction } from "./api/core/pod-eviction.ts";
export { qosClassOf } from "./api/core/pod-prepare.ts";
export { containerTotals } from "./api/core/pod-resources.ts";
export { checkToleration } from "./api/core/pod-scheduling.ts";
export { PodTemplate } from "./api/core/pod-template.ts";
export { checkNewPod, checkTemplate } from "./api/core/pod-validation.ts";
export { Pod } from "./api/core/pod.ts";
export { ReplicationController } from "./api/core/replication-controller.ts";
export { roundAmounts } from "./api/core/resource-names.ts";
export { ResourceQuota } from "./api/core/resource-quota.ts";
export { Secret } from "./api/core/secret.ts";
export { ServiceAccount } from "./api/core/service-account.ts";
export { SERVICE_RANGE, apiServerService } from "./api/core/service-bootstrap.ts";
export { allocatedToService, prepareService } from "./api/core/service-prepare.ts";
export type { Allocated, ServicePools } from "./api/core/service-prepare.ts";
export { Service } from "./api/core/service.ts";
export { CSIDriver } from "./api/csi/csi-driver.ts";
export { CSINode } from "./api/csi/csi-node.ts";
export { CSIStorageCapacity } from "./api/csi/csi-storage-capacity.ts";
export { VolumeAttachment } from "./api/csi/volume-attachment.ts";
export { VolumeAttributesClass } from "./api/csi/volume-attributes-class.ts";
export { EndpointSlice } from "./api/discovery/endpoint-slice.ts";
export { changedDrivers, nodeOfAllocation, prepareClaimStatus } from "./api/dra/claim-status.ts";
export { DeviceClass } from "./api/dra/device-class.ts";
export { ResourceClaimTemplate } from "./api/dra/resource-claim-template.ts";
export { ResourceClaim } from "./api/dra/resource-claim.ts";
export { ResourceSlice } from "./api/dra/resource-slice.ts";
export { EventsEvent } from "./api/events/event.ts";
export { addressNameProblems } from "./api/networking/addresses.ts";
export { DEFAULT_INGRESS_CLASS, IngressClass } from "./api/networking/ingress-class.ts";
export { INGRESS_CLASS_ANNOTATION, Ingress } from "./api/networking/ingress.ts";
export { NetworkPolicy } from "./api/networking/network-policy.ts";
export { RuntimeClass } from "./api/node/runtime-class.ts";
export { PodDisruptionBudget } from "./api/policy/pod-disruption-budget.ts";
export {
  addAmounts,
  exceeding,
  onlyAmounts,
  readAmounts,
  subtractAmounts,
  withoutZeros,
  writeAmounts,
} from "./api/quota/amounts.ts";
export type { Amounts } from "./api/quota/amounts.ts";
export { quotaEvaluatorOf, quotaMatches } from "./api/quota/evaluator.ts";
export type { QuotaEvaluator } from "./api/quota/evaluator.ts";
export { bootstrapRbac } from "./api/rbac/bootstrap-objects.ts";
export { ClusterRoleBinding } from "./api/rbac/cluster-role-binding.ts";
export { ClusterRole } from "./api/rbac/cluster-role.ts";
export { RoleBinding } from "./api/rbac/role-binding.ts";
export { Role } from "./api/rbac/role.ts";
export { PriorityClass, systemPriorityClasses } from "./api/scheduling/priority-class.ts";
export { IPAddress, addressOfService, isAllocated } from "./api/service-cidr/ip-address.ts";
export {
  DEFAULT_SERVICE_CIDR,
  ServiceCIDR,
  defaultServiceCidr,
  usableRanges,
} from "./api/service-cidr/service-cidr.ts";
export { STORAGE_CLASS_ANNOTATION, StorageClass, isDefaultStorageClass } from "./api/storage/storage-class.ts";
export {
  controllersOf,
  defineKind,
  interpretersOf,
  isServed,
  rulesOf,
  servedKinds,
} from "./definition/kind-definition.ts";
export type { KindDefinition, KindName, Progress, WellKnownFeedback } from "./definition/kind-definition.ts";
export { viewOf } from "./definition/state-family.ts";
export type { Fields, Sample, StateFamily, StateKind, StateView } from "./definition/state-family.ts";
export {
  aggregateFields,
  mergeConditions,
  observedGenerationOf,
  pickFields,
  reflectFields,
} from "./interpreter/counters.ts";
export { deploymentInterpreter } from "./interpreter/deployment.ts";
export { nativeKinds } from "./interpreter/index.ts";
export { InterpretError } from "./interpreter/interpret-error.ts";
export { conditionsIn, isConditionReady, joinConditions } from "./interpreter/joined-conditions.ts";
export type {
  Component,
  Dependency,
  KindInterpreter,
  ReplicaRequirements,
  Replicas,
  Share,
  StatusItem,
} from "./interpreter/kind-interpreter.ts";
export { LEVEL_ORDER, createLevel } from "./interpreter/level.ts";
export type { Awaitable, Beneath, ChangedKind, KindRules, Level, LevelName } from "./interpreter/level.ts";
export { OPERATIONS } from "./interpreter/operations.ts";
export type { Operation, Rule } from "./interpreter/operations.ts";
export { placedRequirements, quantityIn } from "./interpreter/operator-pods.ts";
export type { PodPlacement } from "./interpreter/operator-pods.ts";
export { podDependencies } from "./interpreter/pod-dependencies.ts";
export type { ReferringContainer } from "./interpreter/pod-dependencies.ts";
export { podRequirements } from "./interpreter/pod-requirements.ts";
export {
  countIn,
  countOf,
  replaceStatus,
  reportedStatuses,
  statusOf,
  sumOf,
  textOf,
  withStatus,
} from "./interpreter/replica-status.ts";
export type { WithStatus } from "./interpreter/replica-status.ts";
export { SERVICE_ACCOUNT_TOKEN } from "./interpreter/secret.ts";
export { earliestOf, latestOf } from "./interpreter/times.ts";
export {
  isObserved,
  isRolledOut,
  templateDependencies,
  templateReplicas,
  withSpecField,
} from "./interpreter/workload.ts";
export type { PodTemplateShape, Workload } from "./interpreter/workload.ts";
export { createKubernetesAdmissions } from "./kubernetes-admissions.ts";
export { kubernetesKinds } from "./kubernetes-kinds.ts";
export { CLUSTER_INFO_PATH, publishClusterInfo } from "./system/bootstrap/cluster-info.ts";
export { createSystemControllers } from "./system/create-system-controllers.ts";
export { rootCertificateConfigMap } from "./system/root-certificates/config-map.ts";
export { defaultServiceAccount } from "./system/service-accounts/default-account.ts";
export { tokenTrackingConfigMap } from "./system/tokens/tracking.ts";
export { makeClaims, withClaimVolumes } from "./workloads/claims.ts";
export type { ReadonlyClaim } from "./workloads/claims.ts";
export { createFailedPods } from "./workloads/daemonset/failed-pods.ts";
export { daemonPod, isUpdated, targetNode } from "./workloads/daemonset/new-pod.ts";
export { changesPlaces, nodeFitness, viewNodes } from "./workloads/daemonset/nodes.ts";
export type { NodeView, NodeViews, ReadonlyNode } from "./workloads/daemonset/nodes.ts";
export type { FailureWait } from "./workloads/daemonset/plan-daemonset.ts";
export { STATUS_DELAY_MS } from "./workloads/dependencies.ts";
export type { WorkloadDependencies } from "./workloads/dependencies.ts";
export { templateHash } from "./workloads/deployment/replica-sets.ts";
export { createExpectations } from "./workloads/expectations.ts";
export type { Expectations, Owner } from "./workloads/expectations.ts";
export { DEFAULT_GATES, createFeatureGates, parseFeatureGates } from "./workloads/feature-gates.ts";
export type { FeatureGates } from "./workloads/feature-gates.ts";
export { createKubernetesControllers } from "./workloads/index.ts";
export { generatedPod } from "./workloads/new-pod.ts";
export { orphanedPods } from "./workloads/orphans.ts";
export { indexByController, orphansOf, ownedBy } from "./workloads/ownership.ts";
export { createPodWriter, failureMessage } from "./workloads/pod-writer.ts";
export type { PodWords, PodWriter } from "./workloads/pod-writer.ts";
export {
  activePodsOrder,
  cheaperFirst,
  inOrder,
  isActive,
  isAvailable,
  isReady,
  newestFirst,
  nextAvailableInMs,
  pendingFirst,
  podCondition,
  readySinceMs,
  recentlyReadyFirst,
  restartedFirst,
  timeMs,
  unassignedFirst,
  unreadyFirst,
} from "./workloads/pod.ts";
export type { PodRule, ReadonlyPod } from "./workloads/pod.ts";
export { createRevisionHistory } from "./workloads/revisions/history.ts";
export { podTemplateData, podTemplateOf } from "./workloads/revisions/pod-template-data.ts";
export type { PodTemplate as ReadonlyPodTemplate, ReadonlyRevision } from "./workloads/revisions/pod-template-data.ts";
export {
  REVISION_LABEL,
  inRevisionOrder,
  makeRevision,
  planHistory,
  planRevisions,
  revisionHash,
  shortHash,
} from "./workloads/revisions/revisions.ts";
export type { RevisionFormat, RevisionPlan } from "./workloads/revisions/revisions.ts";
export { createScales } from "./workloads/scales.ts";
export { selectorOf } from "./workloads/selector.ts";
export { INDEX_LABEL, claimsOf, mendedIdentity, statefulPod } from "./workloads/statefulset/identity.ts";
export { createStatusDelay } from "./workloads/status-delay.ts";
export { createPace } from "./workloads/workloads-pace.ts";
export { WriteAllError, slowStart, writeAll } from "./workloads/write-all.ts";
