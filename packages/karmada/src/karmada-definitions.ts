/**
 * Karmada's kinds. The rules of Work and ResourceInterpreterCustomization depend on what kinds mean, so the interpreter
 * adds them.
 */
import type { AnyKindStep } from "@flotilla/apimachinery";
import { rulesOf, type KindDefinition } from "@flotilla/kubernetes";
import { cluster } from "./cluster/cluster.ts";
import { propagationPolicy } from "./propagationpolicy/propagationpolicy.ts";
import { clusterPropagationPolicy } from "./clusterpropagationpolicy/clusterpropagationpolicy.ts";
import { overridePolicy } from "./overridepolicy/overridepolicy.ts";
import { clusterOverridePolicy } from "./clusteroverridepolicy/clusteroverridepolicy.ts";
import { clusterTaintPolicy } from "./clustertaintpolicy/clustertaintpolicy.ts";
import { resourceBinding } from "./resourcebinding/resourcebinding.ts";
import { clusterResourceBinding } from "./clusterresourcebinding/clusterresourcebinding.ts";
import { work } from "./work/work.ts";
import { workloadRebalancer } from "./workloadrebalancer/workloadrebalancer.ts";
import { resourceInterpreterCustomization } from "./resourceinterpretercustomization/resourceinterpretercustomization.ts";
import { resourceInterpreterWebhookConfiguration } from "./resourceinterpreterwebhookconfiguration/resourceinterpreterwebhookconfiguration.ts";
import { cronFederatedHpa } from "./cronfederatedhpa/cronfederatedhpa.ts";
import { federatedHpa } from "./federatedhpa/federatedhpa.ts";
import { federatedResourceQuota } from "./federatedresourcequota/federatedresourcequota.ts";
import type { ClusterTaintPolicyOptions } from "./clustertaintpolicy/clustertaintpolicy-rules.ts";

/** Of these, only the rules of ClusterTaintPolicy have options. */
export const karmadaDefinitions: readonly KindDefinition<ClusterTaintPolicyOptions | undefined>[] = [
  propagationPolicy,
  clusterPropagationPolicy,
  overridePolicy,
  clusterOverridePolicy,
  clusterTaintPolicy,
  resourceBinding,
  clusterResourceBinding,
  work,
  workloadRebalancer,
  resourceInterpreterCustomization,
  resourceInterpreterWebhookConfiguration,
  federatedHpa,
  cronFederatedHpa,
  federatedResourceQuota,
  cluster,
];

export const karmadaAdmissions = (taintPolicies?: ClusterTaintPolicyOptions): readonly AnyKindStep[] =>
  rulesOf(karmadaDefinitions, taintPolicies);
