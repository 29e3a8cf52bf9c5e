/** Every admission of the kinds in this folder, in the order in which they run. */
import type { AnyAdmission } from "./admission.ts";
import { admissions as customResourceDefinition } from "./apiextensions/custom-resource-definition.ts";
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
import { admissions as cluster } from "./karmada/cluster.ts";
import { admissions as clusterOverridePolicy } from "./karmada/cluster-override-policy.ts";
import { admissions as clusterPropagationPolicy } from "./karmada/cluster-propagation-policy.ts";
import { admissions as clusterResourceBinding } from "./karmada/cluster-resource-binding.ts";
import { createClusterTaintPolicyAdmissions, type ClusterTaintPolicyOptions } from "./karmada/cluster-taint-policy.ts";
import { admissions as overridePolicy } from "./karmada/override-policy.ts";
import { admissions as propagationPolicy } from "./karmada/propagation-policy.ts";
import { admissions as resourceBinding } from "./karmada/resource-binding.ts";
import { admissions as resourceInterpreterWebhookConfiguration } from "./karmada/resource-interpreter-webhook-configuration.ts";
import { kruiseAdmissions } from "./kruise/admissions.ts";
import type { KruiseGates } from "./kruise/gates.ts";
import { ocmAdmissions } from "./ocm/admissions.ts";
import { optionalKinds } from "./optional-kinds.ts";
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

const admissions: readonly AnyAdmission[] = [
  ...namespace,
  ...configMap,
  ...secret,
  ...serviceAccount,
  ...limitRange,
  ...resourceQuota,
  ...pod,
  ...podTemplate,
  ...replicationController,
  ...node,
  ...event,
  ...eventsEvent,
  ...service,
  ...endpoints,
  ...endpointSlice,
  ...persistentVolume,
  ...persistentVolumeClaim,
  ...storageClass,
  ...ingress,
  ...ingressClass,
  ...networkPolicy,
  ...deployment,
  ...replicaSet,
  ...statefulSet,
  ...daemonSet,
  ...job,
  ...cronJob,
  ...controllerRevision,
  ...certificateSigningRequest,
  ...lease,
  ...horizontalPodAutoscaler,
  ...podDisruptionBudget,
  ...role,
  ...clusterRole,
  ...roleBinding,
  ...clusterRoleBinding,
  ...priorityClass,
  ...runtimeClass,
  ...customResourceDefinition,
  ...cluster,
  ...propagationPolicy,
  ...clusterPropagationPolicy,
  ...overridePolicy,
  ...clusterOverridePolicy,
  ...resourceBinding,
  ...clusterResourceBinding,
  ...resourceInterpreterWebhookConfiguration,
  ...ocmAdmissions,
  ...optionalKinds.flatMap((group) => group.admissions),
];

/**
 * Takes the feature gates for OpenKruise's webhooks and the taint effects that administrators allow in taint policies.
 */
export const createBuiltInAdmissions = (
  gates?: KruiseGates,
  taintPolicies?: ClusterTaintPolicyOptions,
): readonly AnyAdmission[] => [
  ...admissions,
  ...createClusterTaintPolicyAdmissions(taintPolicies),
  ...kruiseAdmissions(gates),
];

export const builtInAdmissions: readonly AnyAdmission[] = createBuiltInAdmissions();
