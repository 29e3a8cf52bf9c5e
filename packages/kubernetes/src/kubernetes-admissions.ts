/** The admissions of Kubernetes' own kinds. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { createCrdAdmissions } from "./customresourcedefinition/customresourcedefinition-rules.ts";
import { optionalKinds } from "./optional-kinds.ts";
import type { ConvertsItself } from "./customresourcedefinition/definition-rules.ts";
import { admissions as controllerRevision } from "./controllerrevision/controllerrevision-rules.ts";
import { admissions as daemonSet } from "./daemonset/daemonset-rules.ts";
import { admissions as deployment } from "./deployment/deployment-rules.ts";
import { admissions as replicaSet } from "./replicaset/replicaset-rules.ts";
import { admissions as statefulSet } from "./statefulset/statefulset-rules.ts";
import { admissions as cronJob } from "./cronjob/cronjob-rules.ts";
import { admissions as job } from "./job/job-rules.ts";
import { admissions as horizontalPodAutoscaler } from "./horizontalpodautoscaler/horizontalpodautoscaler-rules.ts";
import { admissions as certificateSigningRequest } from "./certificatesigningrequest/certificatesigningrequest-rules.ts";
import { admissions as lease } from "./lease/lease-rules.ts";
import { admissions as configMap } from "./configmap/configmap-rules.ts";
import { admissions as endpoints } from "./endpoints/endpoints-rules.ts";
import { admissions as event } from "./event/event-rules.ts";
import { admissions as limitRange } from "./limitrange/limitrange-rules.ts";
import { admissions as namespace } from "./namespace/namespace-rules.ts";
import { admissions as node } from "./node/node-rules.ts";
import { admissions as persistentVolumeClaim } from "./persistentvolumeclaim/persistentvolumeclaim-rules.ts";
import { admissions as persistentVolume } from "./persistentvolume/persistentvolume-rules.ts";
import { admissions as podTemplate } from "./podtemplate/podtemplate-rules.ts";
import { admissions as pod } from "./pod/pod-rules.ts";
import { admissions as replicationController } from "./replicationcontroller/replicationcontroller-rules.ts";
import { admissions as resourceQuota } from "./resourcequota/resourcequota-rules.ts";
import { admissions as secret } from "./secret/secret-rules.ts";
import { admissions as service } from "./service/service-rules.ts";
import { admissions as serviceAccount } from "./serviceaccount/serviceaccount-rules.ts";
import { admissions as eventsEvent } from "./event/events-event-rules.ts";
import { admissions as endpointSlice } from "./endpointslice/endpointslice-rules.ts";
import { admissions as ingressClass } from "./ingressclass/ingressclass-rules.ts";
import { admissions as ingress } from "./ingress/ingress-rules.ts";
import { admissions as networkPolicy } from "./networkpolicy/networkpolicy-rules.ts";
import { admissions as storageClass } from "./storageclass/storageclass-rules.ts";
import { admissions as runtimeClass } from "./runtimeclass/runtimeclass-rules.ts";
import { admissions as podDisruptionBudget } from "./poddisruptionbudget/poddisruptionbudget-rules.ts";
import { admissions as clusterRoleBinding } from "./rbac/cluster-role-binding.ts";
import { admissions as clusterRole } from "./rbac/cluster-role.ts";
import { admissions as roleBinding } from "./rbac/role-binding.ts";
import { admissions as role } from "./rbac/role.ts";
import { admissions as priorityClass } from "./priorityclass/priorityclass-rules.ts";

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
