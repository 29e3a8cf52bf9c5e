export * from "./admission.ts";
export { builtInAdmissions } from "./admissions.ts";
export { customResourceDefinitionOf, kindOfCustomResourceDefinition } from "./definitions.ts";
export { kindSchema } from "./facts.ts";
export * from "./kind.ts";
export { kubernetesKinds } from "./kubernetes-kinds.ts";
export * from "./meta.ts";
export { decodeProtobuf } from "./protobuf.ts";

export { ConfigMap } from "./core/config-map.ts";
export { Event } from "./core/event.ts";
export { Namespace } from "./core/namespace.ts";
export { Node } from "./core/node.ts";
export { Pod } from "./core/pod.ts";
export { Secret } from "./core/secret.ts";
export { Service } from "./core/service.ts";
export { ServiceAccount } from "./core/service-account.ts";
export { ControllerRevision } from "./apps/controller-revision.ts";
export { Deployment } from "./apps/deployment.ts";
export { ReplicaSet } from "./apps/replica-set.ts";
export { Lease } from "./coordination/lease.ts";
export { CustomResourceDefinition } from "./apiextensions/custom-resource-definition.ts";
export { Cluster } from "./karmada/cluster.ts";
export { ClusterOverridePolicy } from "./karmada/cluster-override-policy.ts";
export { ClusterPropagationPolicy } from "./karmada/cluster-propagation-policy.ts";
export { OverridePolicy } from "./karmada/override-policy.ts";
export { PropagationPolicy } from "./karmada/propagation-policy.ts";
export { ResourceBinding } from "./karmada/resource-binding.ts";
export { Work } from "./karmada/work.ts";
export { CloneSet } from "./kruise/clone-set.ts";

export type { JSONSchemaProps } from "./facts/apiextensions-v1.ts";
export type { DeploymentSpec, DeploymentStatus, DeploymentCondition, ReplicaSetSpec, ReplicaSetStatus } from "./facts/apps-v1.ts";
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
  PersistentVolumeClaim,
  PodCondition,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
  ResourceRequirements,
  ServicePort,
  Taint,
  Toleration,
} from "./facts/core-v1.ts";
export type { Condition, LabelSelector, LabelSelectorRequirement } from "./facts/meta-v1.ts";
export type { IntOrString, Quantity } from "./facts/scalars.ts";
export type { APIEnablement, ClusterSpec, ClusterStatus, ResourceModel, ResourceSummary } from "./facts/cluster-karmada-v1alpha1.ts";
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
export type { CloneSetInPlaceUpdateStrategy, CloneSetRollingUpdate, CloneSetScaleStrategy, CloneSetSpec, CloneSetUpdateStrategy, CloneSetV1alpha1 } from "./kruise/clone-set-types.ts";
export * from "./karmada/names.ts";
