/** The Kubernetes kinds that every logical cluster serves, in the order of their groups in discovery. */
import { CustomResourceDefinition } from "./apiextensions/custom-resource-definition.ts";
import { ControllerRevision } from "./apps/controller-revision.ts";
import { DaemonSet } from "./apps/daemon-set.ts";
import { Deployment } from "./apps/deployment.ts";
import { ReplicaSet } from "./apps/replica-set.ts";
import { StatefulSet } from "./apps/stateful-set.ts";
import { SelfSubjectReview } from "./authentication/self-subject-review.ts";
import { TokenReview } from "./authentication/token-review.ts";
import { LocalSubjectAccessReview } from "./authorization/local-subject-access-review.ts";
import { SelfSubjectAccessReview } from "./authorization/self-subject-access-review.ts";
import { SelfSubjectRulesReview } from "./authorization/self-subject-rules-review.ts";
import { SubjectAccessReview } from "./authorization/subject-access-review.ts";
import { HorizontalPodAutoscaler } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { CronJob } from "./batch/cron-job.ts";
import { Job } from "./batch/job.ts";
import { CertificateSigningRequest } from "./certificates/certificate-signing-request.ts";
import { Lease } from "./coordination/lease.ts";
import { ConfigMap } from "./core/config-map.ts";
import { Endpoints } from "./core/endpoints.ts";
import { Event } from "./core/event.ts";
import { LimitRange } from "./core/limit-range.ts";
import { Namespace } from "./core/namespace.ts";
import { Node } from "./core/node.ts";
import { PersistentVolumeClaim } from "./core/persistent-volume-claim.ts";
import { PersistentVolume } from "./core/persistent-volume.ts";
import { Binding } from "./core/pod-binding.ts";
import { PodTemplate } from "./core/pod-template.ts";
import { Pod } from "./core/pod.ts";
import { ReplicationController } from "./core/replication-controller.ts";
import { ResourceQuota } from "./core/resource-quota.ts";
import { Secret } from "./core/secret.ts";
import { ServiceAccount } from "./core/service-account.ts";
import { Service } from "./core/service.ts";
import { EndpointSlice } from "./discovery/endpoint-slice.ts";
import { EventsEvent } from "./events/event.ts";
import { IngressClass } from "./networking/ingress-class.ts";
import { Ingress } from "./networking/ingress.ts";
import { NetworkPolicy } from "./networking/network-policy.ts";
import { RuntimeClass } from "./node/runtime-class.ts";
import { PodDisruptionBudget } from "./policy/pod-disruption-budget.ts";
import { ClusterRoleBinding } from "./rbac/cluster-role-binding.ts";
import { ClusterRole } from "./rbac/cluster-role.ts";
import { RoleBinding } from "./rbac/role-binding.ts";
import { Role } from "./rbac/role.ts";
import { PriorityClass } from "./scheduling/priority-class.ts";
import { StorageClass } from "./storage/storage-class.ts";
import { optionalKinds } from "./optional-kinds.ts";
import type { Kind } from "./kind.ts";

export const kubernetesKinds: readonly Kind[] = [
  Namespace,
  ConfigMap,
  Secret,
  ServiceAccount,
  ResourceQuota,
  LimitRange,
  Service,
  Endpoints,
  Pod,
  PodTemplate,
  Binding,
  ReplicationController,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Event,
  Deployment,
  ReplicaSet,
  StatefulSet,
  DaemonSet,
  ControllerRevision,
  Job,
  CronJob,
  CertificateSigningRequest,
  Lease,
  EventsEvent,
  SelfSubjectReview,
  TokenReview,
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  Role,
  ClusterRole,
  RoleBinding,
  ClusterRoleBinding,
  PriorityClass,
  RuntimeClass,
  Ingress,
  IngressClass,
  NetworkPolicy,
  StorageClass,
  EndpointSlice,
  CustomResourceDefinition,
  ...optionalKinds.flatMap(({ kinds }) => kinds),
];
