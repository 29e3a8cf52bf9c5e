/** The Kubernetes kinds that every logical cluster serves, in the order of their groups in discovery. */
import { CustomResourceDefinition } from "./api/apiextensions/custom-resource-definition.ts";
import { ControllerRevision } from "./api/apps/controller-revision.ts";
import { DaemonSet } from "./api/apps/daemon-set.ts";
import { Deployment } from "./api/apps/deployment.ts";
import { ReplicaSet } from "./api/apps/replica-set.ts";
import { StatefulSet } from "./api/apps/stateful-set.ts";
import { SelfSubjectReview } from "./api/authentication/self-subject-review.ts";
import { TokenReview } from "./api/authentication/token-review.ts";
import { LocalSubjectAccessReview } from "./api/authorization/local-subject-access-review.ts";
import { SelfSubjectAccessReview } from "./api/authorization/self-subject-access-review.ts";
import { SelfSubjectRulesReview } from "./api/authorization/self-subject-rules-review.ts";
import { SubjectAccessReview } from "./api/authorization/subject-access-review.ts";
import { HorizontalPodAutoscaler } from "./api/autoscaling/horizontal-pod-autoscaler.ts";
import { CronJob } from "./api/batch/cron-job.ts";
import { Job } from "./api/batch/job.ts";
import { CertificateSigningRequest } from "./api/certificates/certificate-signing-request.ts";
import { Lease } from "./api/coordination/lease.ts";
import { ConfigMap } from "./api/core/config-map.ts";
import { Endpoints } from "./api/core/endpoints.ts";
import { Event } from "./api/core/event.ts";
import { LimitRange } from "./api/core/limit-range.ts";
import { Namespace } from "./api/core/namespace.ts";
import { Node } from "./api/core/node.ts";
import { PersistentVolumeClaim } from "./api/core/persistent-volume-claim.ts";
import { PersistentVolume } from "./api/core/persistent-volume.ts";
import { Binding } from "./api/core/pod-binding.ts";
import { PodTemplate } from "./api/core/pod-template.ts";
import { Pod } from "./api/core/pod.ts";
import { ReplicationController } from "./api/core/replication-controller.ts";
import { ResourceQuota } from "./api/core/resource-quota.ts";
import { Secret } from "./api/core/secret.ts";
import { ServiceAccount } from "./api/core/service-account.ts";
import { Service } from "./api/core/service.ts";
import { EndpointSlice } from "./api/discovery/endpoint-slice.ts";
import { EventsEvent } from "./api/events/event.ts";
import { IngressClass } from "./api/networking/ingress-class.ts";
import { Ingress } from "./api/networking/ingress.ts";
import { NetworkPolicy } from "./api/networking/network-policy.ts";
import { RuntimeClass } from "./api/node/runtime-class.ts";
import { PodDisruptionBudget } from "./api/policy/pod-disruption-budget.ts";
import { ClusterRoleBinding } from "./api/rbac/cluster-role-binding.ts";
import { ClusterRole } from "./api/rbac/cluster-role.ts";
import { RoleBinding } from "./api/rbac/role-binding.ts";
import { Role } from "./api/rbac/role.ts";
import { PriorityClass } from "./api/scheduling/priority-class.ts";
import { StorageClass } from "./api/storage/storage-class.ts";
import { optionalKinds } from "./api/optional-kinds.ts";
import type { Kind } from "@flotilla/apimachinery";

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
