/** The admissions of Kubernetes' own kinds. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { createCrdAdmissions } from "./api/apiextensions/custom-resource-definition.ts";
import { optionalKinds } from "./api/optional-kinds.ts";
import type { ConvertsItself } from "./api/apiextensions/definition-rules.ts";
import { admissions as controllerRevision } from "./api/apps/controller-revision.ts";
import { admissions as daemonSet } from "./api/apps/daemon-set.ts";
import { admissions as deployment } from "./api/apps/deployment.ts";
import { admissions as replicaSet } from "./api/apps/replica-set.ts";
import { admissions as statefulSet } from "./api/apps/stateful-set.ts";
import { admissions as cronJob } from "./api/batch/cron-job.ts";
import { admissions as job } from "./api/batch/job.ts";
import { admissions as horizontalPodAutoscaler } from "./api/autoscaling/horizontal-pod-autoscaler.ts";
import { admissions as certificateSigningRequest } from "./api/certificates/certificate-signing-request.ts";
import { admissions as lease } from "./api/coordination/lease.ts";
import { admissions as configMap } from "./api/core/config-map.ts";
import { admissions as endpoints } from "./api/core/endpoints.ts";
import { admissions as event } from "./api/core/event.ts";
import { admissions as limitRange } from "./api/core/limit-range.ts";
import { admissions as namespace } from "./api/core/namespace.ts";
import { admissions as node } from "./api/core/node.ts";
import { admissions as persistentVolumeClaim } from "./api/core/persistent-volume-claim.ts";
import { admissions as persistentVolume } from "./api/core/persistent-volume.ts";
import { admissions as podTemplate } from "./api/core/pod-template.ts";
import { admissions as pod } from "./api/core/pod.ts";
import { admissions as replicationController } from "./api/core/replication-controller.ts";
import { admissions as resourceQuota } from "./api/core/resource-quota.ts";
import { admissions as secret } from "./api/core/secret.ts";
import { admissions as service } from "./api/core/service.ts";
import { admissions as serviceAccount } from "./api/core/service-account.ts";
import { admissions as eventsEvent } from "./api/events/event.ts";
import { admissions as endpointSlice } from "./api/discovery/endpoint-slice.ts";
import { admissions as ingressClass } from "./api/networking/ingress-class.ts";
import { admissions as ingress } from "./api/networking/ingress.ts";
import { admissions as networkPolicy } from "./api/networking/network-policy.ts";
import { admissions as storageClass } from "./api/storage/storage-class.ts";
import { admissions as runtimeClass } from "./api/node/runtime-class.ts";
import { admissions as podDisruptionBudget } from "./api/policy/pod-disruption-budget.ts";
import { admissions as clusterRoleBinding } from "./api/rbac/cluster-role-binding.ts";
import { admissions as clusterRole } from "./api/rbac/cluster-role.ts";
import { admissions as roleBinding } from "./api/rbac/role-binding.ts";
import { admissions as role } from "./api/rbac/role.ts";
import { admissions as priorityClass } from "./api/scheduling/priority-class.ts";

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
