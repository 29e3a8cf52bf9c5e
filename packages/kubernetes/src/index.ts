export { SelfSubjectReview } from "./authentication/self-subject-review.ts";
export { TokenRequest } from "./authentication/token-request.ts";
export { TokenReview } from "./authentication/token-review.ts";
export { checkAccessReview, checkLocalAttributes } from "./authorization/access-review-rules.ts";
export { SelfSubjectAccessReview } from "./authorization/self-subject-access-review.ts";
export { SubjectAccessReview } from "./authorization/subject-access-review.ts";
export { Binding } from "./binding/binding-kind.ts";
export { CertificateSigningRequest, requestState } from "./certificatesigningrequest/certificatesigningrequest-kind.ts";
export { ConfigMap } from "./configmap/configmap-kind.ts";
export { ControllerRevision } from "./controllerrevision/controllerrevision-kind.ts";
export { createRevisionHistory } from "./controllerrevision/revision-history.ts";
export type { RevisionHistory } from "./controllerrevision/revision-history.ts";
export { podTemplateData, podTemplateOf } from "./controllerrevision/pod-template-data.ts";
export type { PodTemplate as ReadonlyPodTemplate, ReadonlyRevision } from "./controllerrevision/pod-template-data.ts";
export {
  REVISION_LABEL,
  inRevisionOrder,
  makeRevision,
  planHistory,
  planRevisions,
  revisionHash,
  shortHash,
  TEMPLATE_HASH_LABEL,
} from "./controllerrevision/revisions.ts";
export type { RevisionFormat, RevisionPlan } from "./controllerrevision/revisions.ts";
export { scheduleProblem, zoneProblem } from "./cronjob/cron-schedule.ts";
export { parseSchedule, zonedSchedule } from "./cronjob/cron.ts";
export { hasLastRunFailed } from "./cronjob/last-run.ts";
export { customResourceDefinitionOf, kindOfCustomResourceDefinition } from "./customresourcedefinition/crd-of-kind.ts";
export { CustomResourceDefinition } from "./customresourcedefinition/customresourcedefinition-kind.ts";
export { APPROVAL, approvalOf, isProtectedGroup } from "./customresourcedefinition/definition-rules.ts";
export { daemonPod, isUpdated, targetNode } from "./daemonset/daemon-pod.ts";
export { DaemonSet } from "./daemonset/daemonset-kind.ts";
export { daemonSetRevisions } from "./daemonset/daemonset-revisions.ts";
export { createFailedPods } from "./daemonset/failed-pods.ts";
export { changesPlaces, nodeFitness, viewNodes } from "./daemonset/node-fitness.ts";
export type { NodeView, NodeViews, ReadonlyNode } from "./daemonset/node-fitness.ts";
export type { FailureWait } from "./daemonset/plan-daemonset.ts";
export { conditionsOf } from "./definition/object-conditions.ts";
export {
  controllersOf,
  defineKind,
  interpretersOf,
  isServed,
  rulesOf,
  servedKinds,
} from "./definition/kind-definition.ts";
export type { AnyDefinition, KindDefinition, Progress } from "./definition/kind-definition.ts";
export { exampleOf } from "./definition/example.ts";
export { viewOf } from "./definition/state-family.ts";
export type { Fields, Sample, StateFamily, StateKind, StateView } from "./definition/state-family.ts";
export { deploymentInterpreter } from "./deployment/deployment-interpreter.ts";
export { Deployment } from "./deployment/deployment-kind.ts";
export {
  findNewReplicaSet,
  makeReplicaSet,
  newestAnnotations,
  revisionOf,
  templateHash,
} from "./deployment/replica-sets.ts";
export { changedDrivers, nodeOfAllocation, prepareClaimStatus } from "./dra/claim-devices.ts";
export { ResourceClaim } from "./dra/resource-claim.ts";
export { ResourceSlice } from "./dra/resource-slice.ts";
export { Endpoints } from "./endpoints/endpoints-kind.ts";
export { EndpointSlice } from "./endpointslice/endpointslice-kind.ts";
export { Event } from "./event/event-kind.ts";
export { EventsEvent } from "./event/events-event-kind.ts";
export { createAutoscalerLoop } from "./horizontalpodautoscaler/autoscaler-loop.ts";
export type { ScalingMoment } from "./horizontalpodautoscaler/autoscaler-loop.ts";
export { defaultAutoscaler } from "./horizontalpodautoscaler/hpa-defaults.ts";
export { checkAutoscaler } from "./horizontalpodautoscaler/hpa-validation.ts";
export { planScaling } from "./horizontalpodautoscaler/plan-scaling.ts";
export type { ScalingPlan } from "./horizontalpodautoscaler/plan-scaling.ts";
export type { MetricValue, MetricValues } from "./horizontalpodautoscaler/metric-values.ts";
export { HorizontalPodAutoscaler } from "./horizontalpodautoscaler/horizontalpodautoscaler-kind.ts";
export { Ingress } from "./ingress/ingress-kind.ts";
export { INGRESS_CLASS_ANNOTATION } from "./ingress/ingress-rules.ts";
export { DEFAULT_INGRESS_CLASS, IngressClass } from "./ingressclass/ingressclass-kind.ts";
export {
  aggregateFields,
  mergeConditions,
  observedGenerationOf,
  pickFields,
  reflectFields,
} from "./interpreter/counters.ts";
export { managesPod } from "./interpreter/pod-owners.ts";
export { limitRollingUpdate } from "./interpreter/release-limits.ts";
export { InterpretError } from "./interpreter/interpret-error.ts";
export { conditionsIn, isConditionReady, joinConditions } from "./interpreter/joined-conditions.ts";
export type {
  Component,
  Concern,
  Dependency,
  KindInterpreter,
  LabelledPod,
  NamespaceLabels,
  ReplicaRequirements,
  Replicas,
  Share,
  UnreturnedPods,
  WorkloadsOnMember,
  ReleaseLimits,
} from "./interpreter/kind-interpreter.ts";
export type { Unhealthy } from "./interpreter/unhealthy.ts";
export type { StatusItem } from "./interpreter/status-item.ts";
export { finishOf, isJobFinished } from "./job/job-outcome.ts";
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
  withStatus,
} from "./interpreter/replica-status.ts";
export type { WithStatus } from "./interpreter/replica-status.ts";
export { conditionSums, reflectConditions } from "./interpreter/summed-conditions.ts";
export type { ConditionSums } from "./interpreter/summed-conditions.ts";
export { conditionTime, timeIn } from "./interpreter/time-to-live.ts";
export type { TimeToLive } from "./interpreter/time-to-live.ts";
export { earliestOf, latestOf } from "./interpreter/times.ts";
export {
  isObserved,
  isRolledOut,
  templateDependencies,
  templateReplicas,
  withSpecField,
} from "./interpreter/workload.ts";
export type { PodTemplateShape, Workload } from "./interpreter/workload.ts";
export { Job } from "./job/job-kind.ts";
export {
  kubernetesAdmissions,
  createKubernetesControllers,
  kubernetesDefinitions,
  kubernetesKinds,
  nativeKinds,
} from "./kubernetes-definitions.ts";
export { MutatingAdmissionPolicyBinding } from "./admissionregistration/mutating-admission-policy-binding-kind.ts";
export { MutatingAdmissionPolicy } from "./admissionregistration/mutating-admission-policy-kind.ts";
export { APIService, availabilityOf } from "./apiservice/api-service-kind.ts";
export type { ApiServiceCondition } from "./apiservice/api-service-kind.ts";
export { LOCALLY_AVAILABLE, localApiService, localPriority } from "./apiservice/local-api-services.ts";
export { MutatingWebhookConfiguration } from "./admissionregistration/mutating-webhook-configuration-kind.ts";
export { ValidatingAdmissionPolicyBinding } from "./admissionregistration/validating-admission-policy-binding-kind.ts";
export { ValidatingAdmissionPolicy } from "./admissionregistration/validating-admission-policy-kind.ts";
export { ValidatingWebhookConfiguration } from "./admissionregistration/validating-webhook-configuration-kind.ts";
export { Lease } from "./lease/lease-kind.ts";
export { LimitRange } from "./limitrange/limitrange-kind.ts";
export { Namespace } from "./namespace/namespace-kind.ts";
export { asNewNamespace } from "./namespace/namespace-rules.ts";
export { addressNameProblems } from "./networking/addresses.ts";
export { matchesAnyTerm, matchesNode, matchesTerm, tolerates, toleratesTaint } from "./node/node-fit.ts";
export { Node } from "./node/node-kind.ts";
export { checkNodeSelectorTerm } from "./node/node-selector.ts";
export { indexByController } from "./owned-kinds.ts";
export { CSIDriver } from "./csi/csi-driver.ts";
export { PersistentVolume } from "./persistentvolume/persistentvolume-kind.ts";
export { makeClaims, withClaimVolumes } from "./persistentvolumeclaim/template-claims.ts";
export type { ReadonlyClaim } from "./persistentvolumeclaim/template-claims.ts";
export { claimUses, isUseOf } from "./persistentvolumeclaim/claim-use.ts";
export { PersistentVolumeClaim } from "./persistentvolumeclaim/persistentvolumeclaim-kind.ts";
export { prepareClaim } from "./persistentvolumeclaim/persistentvolumeclaim-rules.ts";
export { podStatus } from "./pod/pod-cells.ts";
export { claimPods } from "./pod/claim-pods.ts";
export { checkEphemeralTemplate } from "./pod/pod-containers.ts";
export { checkHandler as checkProbeHandler } from "./pod/pod-probes.ts";
export { orphanedPods } from "./pod/orphaned-pods.ts";
export { checkAnnotationKeys, checkPodAnnotations } from "./pod/pod-annotations.ts";
export { completePod, defaultContainer, defaultVolume, templateDefaults } from "./pod/pod-defaults.ts";
export { Eviction } from "./pod/pod-eviction.ts";
export { generatedPod } from "./pod/pod-from-template.ts";
export { Pod } from "./pod/pod-kind.ts";
export { qosClassOf } from "./pod/pod-prepare.ts";
export { podReferences, usedApiObjects, volumeSecrets } from "./pod/pod-references.ts";
export { containerTotals, isSidecar } from "./pod/pod-resources.ts";
export { checkToleration } from "./pod/pod-scheduling.ts";
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
} from "./pod/pod-state.ts";
export type { PodRule, ReadonlyPod } from "./pod/pod-state.ts";
export { checkNewPod, checkTemplate } from "./pod/pod-validation.ts";
export { createPodWriter, failureMessage } from "./pod/pod-writer.ts";
export type { PodWords, PodWriter } from "./pod/pod-writer.ts";
export { PodDisruptionBudget } from "./poddisruptionbudget/poddisruptionbudget-kind.ts";
export { FlowSchema } from "./flowcontrol/flow-schema-kind.ts";
export { PriorityLevelConfiguration } from "./flowcontrol/priority-level-kind.ts";
export {
  danglingCondition,
  controllerFlowSchemas,
  flowControlDefaults,
  foundCondition,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
} from "./flowcontrol/flowcontrol-defaults.ts";
export { PriorityClass } from "./priorityclass/priorityclass-kind.ts";
export { systemPriorityClasses } from "./priorityclass/priorityclass-rules.ts";
export {
  addAmounts,
  exceeding,
  onlyAmounts,
  readAmounts,
  subtractAmounts,
  withoutZeros,
  writeAmounts,
} from "./quota/amounts.ts";
export type { Amounts } from "./quota/amounts.ts";
export { exceededText } from "./quota/exceeded-text.ts";
export { chargeQuotas } from "./quota/charge-quotas.ts";
export { quotaEvaluatorOf, quotaMatches } from "./quota/evaluator.ts";
export type { QuotaEvaluator } from "./quota/evaluator.ts";
export { aggregatedRules } from "./rbac/aggregated-rules.ts";
export { bootstrapRbac } from "./rbac/bootstrap-objects.ts";
export { ClusterRoleBinding } from "./rbac/cluster-role-binding.ts";
export { ClusterRole } from "./rbac/cluster-role.ts";
export {
  accountGroups,
  accountOfUser,
  accountUser,
  ANONYMOUS_USER,
  AUTHENTICATED_GROUP,
  MASTERS_GROUP,
  NODE_PREFIX,
  NODES_GROUP,
  RBAC_API_VERSION,
  RBAC_GROUP,
  UNAUTHENTICATED_GROUP,
} from "./rbac/identities.ts";
export { RoleBinding } from "./rbac/role-binding.ts";
export { Role } from "./rbac/role.ts";
export { ReplicaSet } from "./replicaset/replicaset-kind.ts";
export { ReplicationController } from "./replicationcontroller/replicationcontroller-kind.ts";
export { ResourceQuota } from "./resourcequota/resourcequota-kind.ts";
export { roundAmounts } from "./resources/resource-names.ts";
export { RuntimeClass } from "./runtimeclass/runtimeclass-kind.ts";
export { Secret } from "./secret/secret-kind.ts";
export { IPAddress, addressOfService, isAllocated } from "./service-cidr/ip-address.ts";
export { DEFAULT_SERVICE_CIDR, ServiceCIDR, defaultServiceCidr, usableRanges } from "./service-cidr/service-cidr.ts";
export { SERVICE_RANGE, apiServerService, serviceAddresses } from "./service/service-bootstrap.ts";
export { Service } from "./service/service-kind.ts";
export { allocatedToService, prepareService } from "./service/service-prepare.ts";
export type { Allocated, ServicePools } from "./service/service-prepare.ts";
export { ServiceAccount } from "./serviceaccount/serviceaccount-kind.ts";
export { INDEX_LABEL, claimsOf, mendedIdentity, statefulPod } from "./statefulset/identity.ts";
export { StatefulSet } from "./statefulset/statefulset-kind.ts";
export { statefulSetRevisions } from "./statefulset/statefulset-revisions.ts";
export { StorageClass, isDefaultStorageClass } from "./storageclass/storageclass-kind.ts";
export { STORAGE_CLASS_ANNOTATION } from "./storageclass/storageclass-rules.ts";
export { CLUSTER_INFO_PATH, publishClusterInfo } from "./system/bootstrap/cluster-info.ts";
export { clientCertificateProblem } from "./system/certificates/recognized-requests.ts";
export { createSystemControllers } from "./system/create-system-controllers.ts";
export type { CertificateLifetime } from "./system/dependencies.ts";
export { rootCertificateConfigMap } from "./system/root-certificates/config-map.ts";
export { defaultServiceAccount } from "./system/service-accounts/default-account.ts";
export { tokenTrackingConfigMap } from "./system/tokens/tracking.ts";
export { STATUS_DELAY_MS } from "./workloads/dependencies.ts";
export type { PodUsage, WorkloadDependencies } from "./workloads/dependencies.ts";
export { createExpectations } from "./workloads/expectations.ts";
export type { Expectations, Owner } from "./workloads/expectations.ts";
export { indexOwners, ownedBy } from "./workloads/ownership.ts";
export { checkQuotaResourceName, checkResourceAmount } from "./resources/resource-names.ts";
export { createScales } from "./workloads/scales.ts";
export { selectorOf } from "./workloads/selector.ts";
export { createStatusDelay } from "./workloads/status-delay.ts";
export { createPace } from "./workloads/workloads-pace.ts";
export { WriteAllError, slowStart, writeAll } from "./workloads/write-all.ts";
export { exampleJobTemplate, exampleWorkload } from "./pod/pod-example.ts";
export { RETAIN_REPLICAS, TEMPLATE_GENERATION } from "./interpreter/template-names.ts";
export { kubernetesWorkloads } from "./kubernetes-workloads.ts";
export {
  ARCH_LABEL,
  AUTOMANAGED,
  BETA_ARCH_LABEL,
  BETA_INSTANCE_TYPE_LABEL,
  BETA_OS_LABEL,
  BETA_REGION_LABEL,
  BETA_ZONE_LABEL,
  BIND_COMPLETED_ANNOTATION,
  BOOTSTRAP_TOKEN_TYPE,
  BOUND_BY_CONTROLLER_ANNOTATION,
  CLAIM_PROTECTION_FINALIZER,
  CLASS_PROTECTION_FINALIZER,
  CLIENT_SIGNER,
  CONTROLLER_REVISION_HASH_LABEL,
  DEFAULT_CONTAINER_ANNOTATION,
  DEFAULT_STORAGE_CLASS_ANNOTATION,
  DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION,
  DEPLOYMENT_MAX_REPLICAS_ANNOTATION,
  DEPLOYMENT_REVISION_ANNOTATION,
  HOSTNAME_LABEL,
  INSTANCE_TYPE_LABEL,
  KUBELET_CLIENT_SIGNER,
  MIRROR_POD_ANNOTATION,
  MOUNTABLE_SECRETS_ANNOTATION,
  NAMESPACE_NAME_LABEL,
  NODE_NAME_EXTRA,
  NOT_READY_TAINT,
  OS_LABEL,
  POD_DELETION_COST_ANNOTATION,
  REGION_LABEL,
  SECCOMP_POD_ANNOTATION,
  SELECTED_NODE_ANNOTATION,
  SERVICE_ACCOUNT_NAME_ANNOTATION,
  SERVICE_ACCOUNT_TOKEN_TYPE,
  SERVICE_NAME_LABEL,
  STORAGE_PROVISIONER_ANNOTATION,
  UNREACHABLE_TAINT,
  UNSCHEDULABLE_TAINT,
  VOLUME_PROTECTION_FINALIZER,
  ZONE_LABEL,
} from "./well-known-names.ts";
