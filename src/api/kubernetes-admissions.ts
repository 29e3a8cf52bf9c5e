/** The admissions of Kubernetes' own kinds. */
import type { AnyAdmission } from "./admission.ts";
import { createCrdAdmissions } from "./apiextensions/custom-resource-definition.ts";
import { optionalKinds } from "./optional-kinds.ts";
import type { ConvertsItself } from "./apiextensions/definition-rules.ts";
import { admissions as controllerRevision } from "./apps/controller-revision.ts";
import { admissions as daemonSet } from "./apps/daemon-set.ts";
import { admissions as deployment } from "./apps/deployment.ts";
import { admissions as replicaSet } from "./apps/replica-set.ts";
import { admissions as statefulSet } from "./apps/stateful-set.ts";
import { admissions as cronJob } from "./batch/cron-job.ts";
import { admissions as job } from "./batch/job.ts";
import { admissions as horizontalPodAutoscaler } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { admissions as certificateSigningRequest } from "./certificates/certificate-signing-request.ts";
import { admissions as lease } from "./coordination/lease.ts";
import { admissions as configMap } from "./core/config-map.ts";
import { admissions as endpoints } from "./core/endpoints.ts";
import { admissions as event } from "./core/event.ts";
import { admissions as limitRange } from "./core/limit-range.ts";
import { admissions as namespace } from "./core/namespace.ts";
import { admissions as node } from "./core/node.ts";
import { admissions as persistentVolumeClaim } from "./core/persistent-volume-claim.ts";
import { admissions as persistentVolume } from "./core/persistent-volume.ts";
import { admissions as podTemplate } from "./core/pod-template.ts";
import { admissions as pod } from "./core/pod.ts";
import { admissions as replicationController } from "./core/replication-controller.ts";
import { admissions as resourceQuota } from "./core/resource-quota.ts";
import { admissions as secret } from "./core/secret.ts";
import { admissions as service } from "./core/service.ts";
import { admissions as serviceAccount } from "./core/service-account.ts";
import { admissions as eventsEvent } from "./events/event.ts";
import { admissions as endpointSlice } from "./discovery/endpoint-slice.ts";
import { admissions as ingressClass } from "./networking/ingress-class.ts";
import { admissions as ingress } from "./networking/ingress.ts";
import { admissions as networkPolicy } from "./networking/network-policy.ts";
import { admissions as storageClass } from "./storage/storage-class.ts";
import { admissions as runtimeClass } from "./node/runtime-class.ts";
import { admissions as podDisruptionBudget } from "./policy/pod-disruption-budget.ts";
import { admissions as clusterRoleBinding } from "./rbac/cluster-role-binding.ts";
import { admissions as clusterRole } from "./rbac/cluster-role.ts";
import { admissions as roleBinding } from "./rbac/role-binding.ts";
import { admissions as role } from "./rbac/role.ts";
import { admissions as priorityClass } from "./scheduling/priority-class.ts";

/** `converts` selects the CRDs that need no conversion webhook, because the server knows their kinds. */
export const createKubernetesAdmissions = (converts?: ConvertsItself): readonly AnyAdmission[] => [
  ...createCrdAdmissions(converts),
  ...controllerRevision,
  ...daemonSet,
  ...deployment,
  ...replicaSet,
  ...statefulSet,
  ...cronJob,
  ...job,
  ...horizontalPodAutoscaler,
  ...certificateSigningRequest,
  ...lease,
  ...configMap,
  ...endpoints,
  ...event,
  ...limitRange,
  ...namespace,
  ...node,
  ...persistentVolumeClaim,
  ...persistentVolume,
  ...podTemplate,
  ...pod,
  ...replicationController,
  ...resourceQuota,
  ...secret,
  ...service,
  ...serviceAccount,
  ...eventsEvent,
  ...endpointSlice,
  ...ingressClass,
  ...ingress,
  ...networkPolicy,
  ...storageClass,
  ...runtimeClass,
  ...podDisruptionBudget,
  ...clusterRoleBinding,
  ...clusterRole,
  ...roleBinding,
  ...role,
  ...priorityClass,
  ...optionalKinds.flatMap((group) => group.admissions),
];
