/** The Kubernetes kinds that every logical cluster serves, in the order of their groups in discovery. */
import { CustomResourceDefinition } from "./customresourcedefinition/customresourcedefinition-kind.ts";
import { ControllerRevision } from "./controllerrevision/controllerrevision-kind.ts";
import { DaemonSet } from "./daemonset/daemonset-kind.ts";
import { Deployment } from "./deployment/deployment-kind.ts";
import { ReplicaSet } from "./replicaset/replicaset-kind.ts";
import { StatefulSet } from "./statefulset/statefulset-kind.ts";
import { SelfSubjectReview } from "./authentication/self-subject-review.ts";
import { TokenReview } from "./authentication/token-review.ts";
import { LocalSubjectAccessReview } from "./authorization/local-subject-access-review.ts";
import { SelfSubjectAccessReview } from "./authorization/self-subject-access-review.ts";
import { SelfSubjectRulesReview } from "./authorization/self-subject-rules-review.ts";
import { SubjectAccessReview } from "./authorization/subject-access-review.ts";
import { HorizontalPodAutoscaler } from "./horizontalpodautoscaler/horizontalpodautoscaler-kind.ts";
import { CronJob } from "./cronjob/cronjob-kind.ts";
import { Job } from "./job/job-kind.ts";
import { CertificateSigningRequest } from "./certificatesigningrequest/certificatesigningrequest-kind.ts";
import { Lease } from "./lease/lease-kind.ts";
import { ConfigMap } from "./configmap/configmap-kind.ts";
import { Endpoints } from "./endpoints/endpoints-kind.ts";
import { Event } from "./event/event-kind.ts";
import { LimitRange } from "./limitrange/limitrange-kind.ts";
import { Namespace } from "./namespace/namespace-kind.ts";
import { Node } from "./node/node-kind.ts";
import { PersistentVolumeClaim } from "./persistentvolumeclaim/persistentvolumeclaim-kind.ts";
import { PersistentVolume } from "./persistentvolume/persistentvolume-kind.ts";
import { Binding } from "./binding/binding-kind.ts";
import { PodTemplate } from "./podtemplate/podtemplate-kind.ts";
import { Pod } from "./pod/pod-kind.ts";
import { ReplicationController } from "./replicationcontroller/replicationcontroller-kind.ts";
import { ResourceQuota } from "./resourcequota/resourcequota-kind.ts";
import { Secret } from "./secret/secret-kind.ts";
import { ServiceAccount } from "./serviceaccount/serviceaccount-kind.ts";
import { Service } from "./service/service-kind.ts";
import { EndpointSlice } from "./endpointslice/endpointslice-kind.ts";
import { EventsEvent } from "./event/events-event-kind.ts";
import { IngressClass } from "./ingressclass/ingressclass-kind.ts";
import { Ingress } from "./ingress/ingress-kind.ts";
import { NetworkPolicy } from "./networkpolicy/networkpolicy-kind.ts";
import { RuntimeClass } from "./runtimeclass/runtimeclass-kind.ts";
import { PodDisruptionBudget } from "./poddisruptionbudget/poddisruptionbudget-kind.ts";
import { ClusterRoleBinding } from "./rbac/cluster-role-binding.ts";
import { ClusterRole } from "./rbac/cluster-role.ts";
import { RoleBinding } from "./rbac/role-binding.ts";
import { Role } from "./rbac/role.ts";
import { PriorityClass } from "./priorityclass/priorityclass-kind.ts";
import { StorageClass } from "./storageclass/storageclass-kind.ts";
import { optionalKinds } from "./optional-kinds.ts";
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
