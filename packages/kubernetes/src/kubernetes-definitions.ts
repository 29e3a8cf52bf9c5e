/**
 * Kubernetes' kinds. Everything about a kind is in its folder; served kinds, admission, interpreters and controllers are
 * derived from this list. Its order is the order of the groups in discovery.
 */
import type { AnyKindStep, Kind } from "@flotilla/apimachinery";
import type { ObjectKey } from "@flotilla/client";
import type { Controller } from "@flotilla/controller-runtime";
import { admissionDefinitions } from "./admissionregistration/admission-definitions.ts";
import { selfSubjectReview } from "./authentication/self-subject-review.ts";
import { tokenReview } from "./authentication/token-review.ts";
import { localSubjectAccessReview } from "./authorization/local-subject-access-review.ts";
import { selfSubjectAccessReview } from "./authorization/self-subject-access-review.ts";
import { selfSubjectRulesReview } from "./authorization/self-subject-rules-review.ts";
import { subjectAccessReview } from "./authorization/subject-access-review.ts";
import { binding } from "./binding/binding.ts";
import { componentStatus } from "./componentstatus/component-status.ts";
import { certificateSigningRequest } from "./certificatesigningrequest/certificatesigningrequest.ts";
import { configMap } from "./configmap/configmap.ts";
import { controllerRevision } from "./controllerrevision/controllerrevision.ts";
import { cronJob } from "./cronjob/cronjob.ts";
import { csiDefinitions } from "./csi/csi-definitions.ts";
import { apiService } from "./apiservice/api-service.ts";
import { customResourceDefinition } from "./customresourcedefinition/customresourcedefinition.ts";
import { daemonSet } from "./daemonset/daemonset.ts";
import { controllersOf, interpretersOf, rulesOf, servedKinds } from "./definition/kind-definition.ts";
import type { KindDefinition } from "./definition/kind-definition.ts";
import { deployment } from "./deployment/deployment.ts";
import { deviceDefinitions } from "./dra/device-definitions.ts";
import { endpoints } from "./endpoints/endpoints.ts";
import { endpointSlice } from "./endpointslice/endpointslice.ts";
import { event } from "./event/event.ts";
import { eventsEvent } from "./event/events-event.ts";
import { horizontalPodAutoscaler } from "./horizontalpodautoscaler/horizontalpodautoscaler.ts";
import { ingress } from "./ingress/ingress.ts";
import { ingressClass } from "./ingressclass/ingressclass.ts";
import type { KindInterpreter } from "./interpreter/kind-interpreter.ts";
import { job } from "./job/job.ts";
import { lease } from "./lease/lease.ts";
import { limitRange } from "./limitrange/limitrange.ts";
import { namespace } from "./namespace/namespace.ts";
import { networkPolicy } from "./networkpolicy/networkpolicy.ts";
import { node } from "./node/node.ts";
import { persistentVolume } from "./persistentvolume/persistentvolume.ts";
import { persistentVolumeClaim } from "./persistentvolumeclaim/persistentvolumeclaim.ts";
import { pod } from "./pod/pod.ts";
import { podDisruptionBudget } from "./poddisruptionbudget/poddisruptionbudget.ts";
import { podTemplate } from "./podtemplate/podtemplate.ts";
import { flowControlDefinitions } from "./flowcontrol/flowcontrol-definitions.ts";
import { priorityClass } from "./priorityclass/priorityclass.ts";
import { clusterRoleBinding } from "./rbac/cluster-role-binding.ts";
import { clusterRole } from "./rbac/cluster-role.ts";
import { roleBinding } from "./rbac/role-binding.ts";
import { role } from "./rbac/role.ts";
import { replicaSet } from "./replicaset/replicaset.ts";
import { replicationController } from "./replicationcontroller/replicationcontroller.ts";
import { resourceQuota } from "./resourcequota/resourcequota.ts";
import { runtimeClass } from "./runtimeclass/runtimeclass.ts";
import { secret } from "./secret/secret.ts";
import { serviceRangeDefinitions } from "./service-cidr/service-range-definitions.ts";
import { service } from "./service/service.ts";
import { serviceAccount } from "./serviceaccount/serviceaccount.ts";
import { serviceImport } from "./serviceimport/serviceimport.ts";
import { statefulSet } from "./statefulset/statefulset.ts";
import { storageClass } from "./storageclass/storageclass.ts";
import type { WorkloadDependencies } from "./workloads/dependencies.ts";

export const kubernetesDefinitions: readonly KindDefinition[] = [
  namespace,
  configMap,
  secret,
  serviceAccount,
  resourceQuota,
  limitRange,
  service,
  endpoints,
  pod,
  podTemplate,
  binding,
  componentStatus,
  replicationController,
  node,
  persistentVolume,
  persistentVolumeClaim,
  event,
  deployment,
  replicaSet,
  statefulSet,
  daemonSet,
  controllerRevision,
  job,
  cronJob,
  certificateSigningRequest,
  lease,
  eventsEvent,
  selfSubjectReview,
  tokenReview,
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
  horizontalPodAutoscaler,
  podDisruptionBudget,
  role,
  clusterRole,
  roleBinding,
  clusterRoleBinding,
  priorityClass,
  ...flowControlDefinitions,
  runtimeClass,
  ingress,
  ingressClass,
  networkPolicy,
  storageClass,
  endpointSlice,
  ...admissionDefinitions,
  customResourceDefinition,
  serviceImport,
  // Kinds that belong to one cluster and that no policy propagates. Their rules are loaded when the first object is written.
  // A group is removed by removing its line here and the folder of the same name in `apiserver`.
  ...serviceRangeDefinitions,
  ...csiDefinitions,
  ...deviceDefinitions,
  apiService,
];

export const kubernetesKinds: readonly Kind[] = servedKinds(kubernetesDefinitions);

export const kubernetesAdmissions: readonly AnyKindStep[] = rulesOf(kubernetesDefinitions, undefined);

// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
export const nativeKinds: readonly KindInterpreter<any>[] = interpretersOf(kubernetesDefinitions);

/** The workload controllers of kube-controller-manager. */
export const createKubernetesControllers = (deps: WorkloadDependencies): Controller<ObjectKey>[] =>
  controllersOf(kubernetesDefinitions, deps);
