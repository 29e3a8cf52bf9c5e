/** Every admission of the kinds in this folder, in the order in which they run. */
import type { AnyAdmission } from "./admission.ts";
import { admissions as customResourceDefinition } from "./apiextensions/custom-resource-definition.ts";
import { admissions as controllerRevision } from "./apps/controller-revision.ts";
import { admissions as deployment } from "./apps/deployment.ts";
import { admissions as replicaSet } from "./apps/replica-set.ts";
import { admissions as lease } from "./coordination/lease.ts";
import { admissions as configMap } from "./core/config-map.ts";
import { admissions as event } from "./core/event.ts";
import { admissions as namespace } from "./core/namespace.ts";
import { admissions as node } from "./core/node.ts";
import { admissions as pod } from "./core/pod.ts";
import { admissions as secret } from "./core/secret.ts";
import { admissions as service } from "./core/service.ts";
import { admissions as serviceAccount } from "./core/service-account.ts";
import { admissions as cluster } from "./karmada/cluster.ts";
import { admissions as clusterOverridePolicy } from "./karmada/cluster-override-policy.ts";
import { admissions as clusterPropagationPolicy } from "./karmada/cluster-propagation-policy.ts";
import { admissions as overridePolicy } from "./karmada/override-policy.ts";
import { admissions as propagationPolicy } from "./karmada/propagation-policy.ts";
import { admissions as resourceBinding } from "./karmada/resource-binding.ts";
import { admissions as cloneSet } from "./kruise/clone-set.ts";

export const builtInAdmissions: readonly AnyAdmission[] = [
  ...namespace,
  ...configMap,
  ...secret,
  ...serviceAccount,
  ...pod,
  ...node,
  ...event,
  ...service,
  ...deployment,
  ...replicaSet,
  ...controllerRevision,
  ...lease,
  ...customResourceDefinition,
  ...cluster,
  ...propagationPolicy,
  ...clusterPropagationPolicy,
  ...overridePolicy,
  ...clusterOverridePolicy,
  ...resourceBinding,
  ...cloneSet,
];
