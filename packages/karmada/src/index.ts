export { karmadaAdmissions, karmadaDefinitions } from "./karmada-definitions.ts";
export { ClusterOverridePolicy } from "./clusteroverridepolicy/clusteroverridepolicy-kind.ts";
export { ClusterPropagationPolicy } from "./clusterpropagationpolicy/clusterpropagationpolicy-kind.ts";
export { ClusterResourceBinding } from "./clusterresourcebinding/clusterresourcebinding-kind.ts";
export { ClusterTaintPolicy } from "./clustertaintpolicy/clustertaintpolicy-kind.ts";
export type { ClusterTaintPolicyOptions } from "./clustertaintpolicy/clustertaintpolicy-rules.ts";
export { Cluster } from "./cluster/cluster-kind.ts";
export { clusterNameProblem } from "./cluster/cluster-rules.ts";
export { CronFederatedHpa } from "./cronfederatedhpa/cronfederatedhpa-kind.ts";
export { FederatedHpa } from "./federatedhpa/federatedhpa-kind.ts";
export { FederatedResourceQuota } from "./federatedresourcequota/federatedresourcequota-kind.ts";
export { OverridePolicy } from "./overridepolicy/overridepolicy-kind.ts";
export { MAX_STATUS_CLUSTERS, MAX_STATUS_PROBLEMS } from "./policy/policy-status.ts";
export type { PolicyProblem, PolicyStatus } from "./policy/policy-status.ts";
export { PropagationPolicy } from "./propagationpolicy/propagationpolicy-kind.ts";
export { ignoredSpread, ignoresSpread } from "./placement/spread-use.ts";
export { ResourceBinding } from "./resourcebinding/resourcebinding-kind.ts";
export { ResourceInterpreterCustomization } from "./resourceinterpretercustomization/resourceinterpretercustomization-kind.ts";
export { ResourceInterpreterWebhookConfiguration } from "./resourceinterpreterwebhookconfiguration/resourceinterpreterwebhookconfiguration-kind.ts";
export { selectsClusterScoped } from "./selection/cluster-scoped.ts";
export { createWorkAdmissions } from "./work/work-rules.ts";
export { Work } from "./work/work-kind.ts";
export { WorkloadRebalancer } from "./workloadrebalancer/workloadrebalancer-kind.ts";
export {
  APPLIED_CLUSTER_OVERRIDES,
  APPLIED_OVERRIDES,
  APPLIED_PLACEMENT,
  BINDING_FINALIZER,
  BINDING_ID,
  BINDING_NAME,
  BINDING_NAMESPACE,
  CACHED_FROM_CLUSTER,
  CA_KEY,
  CLAIMED_BY,
  CLUSTER_BINDING_FINALIZER,
  CLUSTER_BINDING_ID,
  CLUSTER_BINDING_NAME,
  CLUSTER_FINALIZER,
  CLUSTER_NOT_READY_TAINT,
  CLUSTER_POLICY_ID,
  CLUSTER_POLICY_NAME,
  CLUSTER_UNREACHABLE_TAINT,
  CONFLICT_RESOLUTION,
  CORDON_TAINT,
  DEPENDED_BY_PREFIX,
  DEPENDENCIES,
  IMPERSONATOR,
  KARMADA_AGENTS_GROUP,
  KARMADA_CLUSTER_NAMESPACE,
  KARMADA_SYSTEM_NAMESPACE,
  KARMADA_TOKENS_GROUP,
  MANAGED_ANNOTATIONS,
  MANAGED_LABEL,
  MANAGED_LABELS,
  POLICY_ID,
  POLICY_NAME,
  POLICY_NAMESPACE,
  QUOTA_NAME,
  QUOTA_NAMESPACE,
  RBAC_GENERATOR_REQUEST_PREFIX,
  RBAC_GENERATOR_USER,
  RESPONDING,
  RETAIN_REPLICAS,
  SKIP_NAMESPACE,
  SYSTEM_LABEL,
  SYSTEM_LABELS,
  TEMPLATE_GENERATION,
  TEMPLATE_UID,
  TOKEN_KEY,
  WORK_FINALIZER,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
  agentElectionLease,
  agentRoleName,
  agentUser,
  bindingName,
  bindingReferenceKey,
  clusterNameOf,
  clusterOfAgentRole,
  clusterOfAgentUser,
  executionNamespace,
  impersonationSecretName,
  isReservedNamespace,
  namespacedKey,
  policyName,
  serviceAccountName,
  workName,
} from "./names/karmada-names.ts";
export { DELETION_PROTECTED } from "./names/karmada-names.ts";
