export { agentRegistration, isReplacedRegistration } from "./access/agent-registration.ts";
export { agentCertificateLifetime } from "./access/certificate-lifetimes.ts";
export { createAgent } from "./agent/create-agent.ts";
export type { Agent, AgentOptions, HubApis } from "./agent/create-agent.ts";
export {
  createSecretStore,
  credentialsIn,
  ensureAgentNamespace,
  filesOf,
} from "./agent/credentials/credential-store.ts";
export type { CredentialStore } from "./agent/credentials/credential-store.ts";
export { kubeconfigOf, latestOf } from "./agent/credentials/hub-credentials.ts";
export type { HubAddress, HubCredentials } from "./agent/credentials/hub-credentials.ts";
export { karmadaIdentity, makeRequest, managedClusterIdentity } from "./agent/credentials/identity.ts";
export { NameTakenError, createCredentialKeeper } from "./agent/credentials/keep-credentials.ts";
export type { CredentialKeeper, Rotation } from "./agent/credentials/keep-credentials.ts";
export { requestCertificate } from "./agent/credentials/request-certificate.ts";
export { readClusterInfo } from "./agent/discovery.ts";
export { introduce, registrationStateOf } from "./agent/managed-cluster/introduce.ts";
export type { RegistrationState } from "./agent/managed-cluster/introduce.ts";
export type { AgentMembers } from "./agent/members.ts";
export { createRealMember } from "./agent/real-member.ts";
export { runAgent } from "./agent/run-agent.ts";
export { createFleetMetrics } from "./autoscaling/fleet-metrics.ts";
export { createQuota } from "./quota/create-quota.ts";
export { federatedQuotaEnforcement } from "./quota/quota-enforcement.ts";
export { missingMetricsWarning } from "./autoscaling/missing-metrics-warning.ts";
export { whyUnavailable } from "./ocm/why-unavailable.ts";
export { uncountedKeys, uncountedText } from "./quota/uncounted-keys.ts";
export { quotaWarnings } from "./quota/quota-warnings.ts";
export { taintPolicyWarning } from "./membership/taint-policy-warning.ts";
export { rivalScalersWarning } from "./autoscaling/rival-scalers-warning.ts";
export { createAutoscaling } from "./autoscaling/create-autoscaling.ts";
export { auditorRole } from "./decisions/auditor-access.ts";
export { createDecisions, decisionMetrics } from "./decisions/decision-recorder.ts";
export type { DecisionRecorder, Decisions } from "./decisions/decision-recorder.ts";
export { Decision, decisionKind } from "./decisions/decision-kind.ts";
export { createDelivery } from "./delivery/create-delivery.ts";
export type { ApplyOutcome, ApplyPolicy, Delivery, Observation } from "./delivery/delivery.ts";
export { marks } from "./delivery/marks-ownership.ts";
export type { LaneFigures } from "./delivery/member-lanes.ts";
export { createObserver } from "./delivery/observer.ts";
export { references } from "./delivery/references-ownership.ts";
export { isBookkeeping } from "./explain/explain-bookkeeping.ts";
export { explain } from "./explain/explain.ts";
export { createLocatePods, podNamesOf } from "./membership/locate-pods.ts";
export type { LocatePods } from "./membership/locate-pods.ts";
export { createMemberReader } from "./membership/member-reader.ts";
export { createExplainer } from "./explain/explainer.ts";
export { ClusterExplanation, Explanation, explanationKinds } from "./explain/explanation.ts";
export type { ExplainedManifest, ExplainedMember, ExplainedPolicy, ExplainedRollout } from "./explain/explanation.ts";
export { compareFields } from "./fields/field-changes.ts";
export type { FieldChange } from "./fields/field-changes.ts";
export { createLastDecisions } from "./explain/last-decisions.ts";
export type { LastDecisions } from "./explain/last-decisions.ts";
export { createOcmExplainer } from "./explain/ocm/ocm-explainer.ts";
export { AGGREGATE_TO_PLANNER, PLANNER_ROLE, plannerRoles } from "./explain/planner-access.ts";
export { planTakenManifest } from "./explain/ocm/plan-taken-manifest.ts";
export { planWorkChanges } from "./explain/ocm/plan-work-changes.ts";
export { manifestsOf } from "./ocm/work/manifests.ts";
export { mayCollide, planExisting } from "./explain/plan-existing.ts";
export { planMemberQuota } from "./explain/plan-member-quota.ts";
export type { CopyGrowth, SizedCopy } from "./explain/plan-member-quota.ts";
export { uncalledWebhookIn } from "./explain/delivery-problem.ts";
export { autoscalerOf, replicasOf } from "./explain/left-to-autoscaler.ts";
export { keeperOf, planRetained, planSetLater } from "./explain/plan-retained.ts";
export { undeliveredProblems } from "./explain/plan-undelivered.ts";
export {
  planChanges,
  planFleet,
  planNamespaceChanges,
  planNamespaces,
  rewrittenCopies,
  worksOf,
} from "./explain/plan-fleet.ts";
export type { FleetPlan, MemberChange, PlannedWorks } from "./explain/plan-fleet.ts";
export type { TemplatePlan } from "./explain/plan-template.ts";
export { releasesOf, SNAPSHOT_KINDS, viewsOf } from "./explain/snapshot.ts";
export type { FleetSnapshot } from "./explain/snapshot.ts";
export { HEALTHY, RULE_FAILURES, unhealthyForMs } from "./health/healthy-condition.ts";
export { hidesItsPods, isScheduled, runsOnEveryNode, runsToCompletion } from "./health/run-to-completion.ts";
export { FAILED as RUN_FAILED, heldPods, isIdleBudget, whyBroken, whyUnhealthy } from "./health/why-unhealthy.ts";
export { retainProblems } from "./explain/retain-problems.ts";
export { STATUS_COMPLETE } from "./propagation/aggregate/plan-left-out.ts";
export {
  DIVIDED_OVER_FLEET,
  MEMBER_DECIDES,
  PODS_FOUND,
  PODS_ROLLED_BACK,
  TEMPLATE_ACTIVE,
  TEMPLATE_FOUND,
} from "./propagation/dispatch/plan-notice.ts";
export { installedSteps } from "./install/admission-steps.ts";
export {
  CONTROLLERS_NAME,
  INSTALL_RECORD,
  INSTALLED_LABEL,
  INSTALLED_LABELS,
  STORED_CLUSTERS,
  WEBHOOK_PATHS,
  WEBHOOKS_CERTIFICATE,
  WEBHOOKS_NAME,
  WEBHOOKS_PORT,
} from "./install/install-names.ts";
export { installedKinds, WORKLOAD_PROJECTS } from "./install/plan-definitions.ts";
export type { WorkloadProject } from "./install/plan-definitions.ts";
export { manifestsOfInstall, planInstall } from "./install/plan-install.ts";
export type { InstallOptions, InstallPlan } from "./install/plan-install.ts";
export { AGGREGATED_GROUPS, planApiServices } from "./install/plan-programs.ts";
export { createDiscovery } from "./membership/discovery.ts";
export { createConfiguredInterpreter } from "./interpreter/configured.ts";
export type { Quarantine } from "./interpreter/scripts/index.ts";
export { findConflicts, interpreterAdmissions } from "./interpreter/customization/admissions.ts";
export { LEFT_TO_MEMBERS } from "./interpreter/customization/retained-by-script.ts";
export { checkCustomization } from "./interpreter/customization/check-customization.ts";
export { createCustomizationLevel } from "./interpreter/customization/level.ts";
export { customizationIn } from "./interpreter/customization/owned-program.ts";
export { convertShorthand } from "./interpreter/customization/shorthand.ts";
export { createInterpreter, knownKinds, knownLevels } from "./interpreter/interpreter.ts";
export { knownDefinitions } from "./interpreter/known-definitions.ts";
export type { AnyObject, Interpreter } from "./interpreter/interpreter.ts";
export { hasHealthRule } from "./interpreter/health-rules.ts";
export { prune, withoutTimeToLive } from "./interpreter/prune.ts";
export { createLuaEngine } from "./interpreter/scripts/engine.ts";
export { compileKubeScript } from "./interpreter/scripts/kube-script.ts";
export {
  LuaResultError,
  aggregateStatus,
  getComponents,
  getDependencies,
  getReplicas,
  interpretHealth,
  reflectStatus,
  retain,
  reviseReplica,
} from "./interpreter/scripts/operations.ts";
export type { LuaProgram } from "./interpreter/scripts/program.ts";
export { withoutEmpties, withoutNulls } from "./interpreter/scripts/result-rules.ts";
export { scriptMetrics } from "./interpreter/scripts/script-metrics.ts";
export { thirdPartyKinds } from "./interpreter/thirdparty/index.ts";
export { hookMetrics } from "./interpreter/webhook/hook-metrics.ts";
export { apiServiceReferences } from "./access/api-service-references.ts";
export { webhookReferences } from "./interpreter/webhook/webhook-references.ts";
export { createMembershipAdmissions } from "./membership/admissions.ts";
export { createMembership } from "./membership/create-membership.ts";
export type { Membership, MembershipTimes } from "./membership/create-membership.ts";
export { ANSWERS_AGAIN, refusesToken } from "./membership/ready.ts";
export { acceptMember, joinCluster } from "./membership/join.ts";
export { leaveModeOf } from "./membership/leaving-delivery.ts";
export { combineMembers } from "./membership/member.ts";
export type { Member, MemberSource } from "./membership/member.ts";
export { planAllocatableModelings } from "./membership/modeling.ts";
export { clusterProxyAdministrators } from "./membership/proxy-access.ts";
export { createClusterProxy } from "./membership/proxy.ts";
export { createPulledMembers } from "./membership/pulled-members.ts";
export { createRemoteMembers } from "./membership/remote-members.ts";
export type { ConnectMember } from "./membership/remote-members.ts";
export { createMonitoring, monitoringMetrics } from "./monitoring/create-monitoring.ts";
export type { Monitoring } from "./monitoring/create-monitoring.ts";
export type { StoreFigures } from "./monitoring/state-gauges.ts";
export { createDeliveryMeter, deliveryMetrics } from "./monitoring/delivery-meter.ts";
export { createExecutionMeter, executionMetrics } from "./monitoring/pipeline-meter.ts";
export { buildMetrics, laneMetrics, writeBuild, writeLanes } from "./monitoring/state-gauges.ts";
export { createWorkloadMetrics, membersPageMetrics, workloadMetrics } from "./monitoring/workload-metrics.ts";
export type { WorkloadMetrics } from "./monitoring/workload-metrics.ts";
export { createOcm } from "./ocm/create-ocm.ts";
export { isPaired } from "./ocm/pairing/merge-registrations.ts";
export { planPlacement } from "./ocm/placement/plan-placement.ts";
export type { PlacementInput } from "./ocm/placement/plan-placement.ts";
export { createPlacementSources } from "./ocm/placement/sources.ts";
export type { PlacementSources } from "./ocm/placement/sources.ts";
export { bootstrapAccess } from "./ocm/registration/hub-access.ts";
export { planWorksRollout } from "./ocm/rollout/plan-works-rollout.ts";
export type { ClusterRollout, PlannedCluster, RolloutState } from "./ocm/rollout/plan-works-rollout.ts";
export type { WorkOrigin } from "./ocm/work/applied-work.ts";
export { applyOrder } from "./ocm/work/apply-order.ts";
export { evaluateRules } from "./ocm/work/condition-rules.ts";
export { createWork } from "./ocm/work/create-work.ts";
export { dryRunOver } from "./ocm/work/executor.ts";
export { readFeedback } from "./ocm/work/feedback.ts";
export { aggregateConditions, mergeManifests } from "./ocm/work/manifest-conditions.ts";
export { optionsOf } from "./ocm/work/manifest-options.ts";
export type { WorkMember } from "./ocm/work/member-objects.ts";
export { isOwned, untracked } from "./ocm/work/ownership.ts";
export { matchesAffinity } from "./propagation/policies/cluster-affinity.ts";
export type { ClusterAffinity } from "./propagation/policies/cluster-affinity.ts";
export { createHubViews } from "./propagation/create-hub-views.ts";
export type { HubViews } from "./propagation/create-hub-views.ts";
export { createPropagation } from "./propagation/create-propagation.ts";
export { createDeletionProtection } from "./propagation/admission/deletion-protection.ts";
export { readCapacity } from "./propagation/estimate/capacity.ts";
export type { Capacity } from "./propagation/estimate/capacity.ts";
export { estimateReplicas, MOST_REPLICAS, readRequest } from "./propagation/estimate/estimate-replicas.ts";
export { estimateSets, readComponentSet } from "./propagation/estimate/estimate-sets.ts";
export type { FailoverOptions } from "./propagation/failover/failover-controller.ts";
export { divideCompletions } from "./propagation/jobs/job-completions.ts";
export type { JobToDivide } from "./propagation/jobs/job-completions.ts";
export { isJob } from "./propagation/jobs/plan-job.ts";
export { isTemplate, isTemplateGroup } from "./propagation/templates/templates.ts";
export { chooseBestPolicy } from "./propagation/match/best-policy.ts";
export type { PolicyView } from "./propagation/match/best-policy.ts";
export type { ExecutionMeter } from "./propagation/meter.ts";
export { planOverrides } from "./propagation/override/plan-overrides.ts";
export type { AppliedOverride, OverrideInput } from "./propagation/override/plan-overrides.ts";
export { leavesOnDrain } from "./propagation/failover/plan-cluster-failover.ts";
export { copiesOf } from "./propagation/bindings/target-clusters.ts";
export { needOf } from "./propagation/dependencies/references.ts";
export { isOnlyNeeded } from "./propagation/schedule/plan-patch.ts";
export { isFinishedRun, runsOnce } from "./propagation/jobs/finished-run.ts";
export { parseJobRecord } from "./propagation/jobs/job-record.ts";
export { leaveNote } from "./explain/explain-runs.ts";
export { STAYS_UNPLACED } from "./explain/plan-template.ts";
export { namesWithoutMember, unjoinedClusters, unservedSelectors } from "./propagation/admission/policy-targets.ts";
export { policyWarnings } from "./propagation/admission/policy-warnings.ts";
export { findTies, possibleTies } from "./propagation/admission/policy-ties.ts";
export type { FindObject, SharedObjects, Tie, TieLookups } from "./propagation/admission/policy-ties.ts";
export { unservingMembers, unservingText } from "./propagation/admission/unserving-members.ts";
export type { PlacementUse } from "./propagation/admission/unserving-members.ts";
export type { ServedKinds } from "./propagation/admission/policy-targets.ts";
export { templateRequests } from "./propagation/admission/template-requests.ts";
export { INTERPRETER } from "./propagation/rules/rule-failures.ts";
export { implicitPriority, matchesResource } from "./propagation/policies/resource-selector.ts";
export type { ResourceSelector, SelectableResource } from "./propagation/policies/resource-selector.ts";
export { assignReplicas } from "./propagation/schedule/assign.ts";
export type { AssignedCluster, Candidate } from "./propagation/schedule/assign.ts";
export { createFleet, readCluster, updateFleet } from "./propagation/schedule/fleet-view.ts";
export { affinityOf, createView, currentTerm } from "./propagation/schedule/framework.ts";
export type { BindingSpecView, BindingStatusView } from "./propagation/schedule/framework.ts";
export type { ClusterView } from "./propagation/schedule/fleet-cluster.ts";
export { planSchedule } from "./propagation/schedule/plan-schedule.ts";
export type { ScheduleInput } from "./propagation/schedule/plan-schedule.ts";
export { filterPlugins, scorePlugins } from "./propagation/schedule/plugins/index.ts";
export { renderFitError, scheduleCycle } from "./propagation/schedule/schedule-cycle.ts";
export type { CycleInput, ScheduleOptions } from "./propagation/schedule/schedule-cycle.ts";
export {
  matchingTolerations,
  minTolerationMs,
  noExecuteTaints,
  toleratesTaint,
} from "./propagation/schedule/tolerations.ts";
export type { Taint, Toleration } from "./propagation/schedule/tolerations.ts";
export { divideByWeight } from "./propagation/replicas/webster.ts";
export type { ClusterReplicas, WeightedCluster } from "./propagation/replicas/webster.ts";
export {
  ANSWER_PENDING,
  APPLIED_FAILED,
  CONTROLLERS_LEASE,
  DRAIN_TAINT,
  DRIFT,
  FORCE_ANNOTATION,
  INSTALL_NAMESPACE,
  INTERPRETED,
  MEMBER_UNREACHABLE,
  NO_ANSWER,
  OSCILLATING,
  PURGE_ANNOTATION,
  RELEASED,
  RELEASE_LEFT,
  RELEASE_STOPPED,
  REPLICAS_LEFT,
  SINGLE_USE_TOKEN,
  STOPPED_REASONS,
  TERMINATING,
  UNJOINING,
  UNMANAGED,
  WORKS_REJECTED,
} from "./flotilla-names.ts";
export {
  CONTROLLER_GROUPS,
  controllersLease,
  controllerUnits,
  shardOf,
  shardOfLease,
  WHOLE,
} from "./controller-groups.ts";
export type { ControllerGroup, Shard } from "./controller-groups.ts";
export { releaseDigest, withReleasedPart as releasedPatch } from "./propagation/templates/released-part.ts";
export { fixForPlacement } from "./explain/ocm/explain-placement.ts";
export { approvalsOf } from "./rollout/plan/plan-gates.ts";
export { nextOpening } from "./rollout/plan/plan-window.ts";
export { createReleaseIndex, hasOwnPartition, isReleasable } from "./rollout/release-index.ts";
export type { ReleaseIndex } from "./rollout/release-index.ts";
export { failureText } from "./rollout/plan/plan-failure.ts";
export { hasEndedBadly, RECORD_FAILED, reportRelease, UNSETTLED_RELEASES } from "./rollout/report-release.ts";
export type { ReleaseReport } from "./rollout/report-release.ts";
export { FleetDisruptionBudget } from "./rollout/kinds/fleet-disruption-budget.ts";
export { createRollouts } from "./rollout/create-rollout.ts";
export { FleetRollout } from "./rollout/kinds/fleet-rollout.ts";
export { RolloutStrategy } from "./rollout/kinds/rollout-strategy.ts";
export { rolloutAdmissions, rolloutDefinitions, rolloutKinds } from "./rollout/rollout-definitions.ts";
export { rolloutRoles } from "./rollout/rollout-access.ts";
export { FLOTILLA_GROUP, flotillaUser } from "./flotilla-identity.ts";
export { SIMULATED_FAULT } from "./flotilla-names.ts";
