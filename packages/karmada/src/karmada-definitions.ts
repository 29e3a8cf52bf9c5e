/**
 * Karmada's kinds. The rules of Work and ResourceInterpreterCustomization depend on what kinds mean, so the interpreter
 * adds them.
 */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { rulesOf, type KindDefinition } from "@flotilla/kubernetes";
import { cluster } from "./cluster/cluster.ts";
import { propagationPolicy } from "./propagationpolicy/propagation-policy.ts";
import { clusterPropagationPolicy } from "./clusterpropagationpolicy/cluster-propagation-policy.ts";
import { overridePolicy } from "./overridepolicy/override-policy.ts";
import { clusterOverridePolicy } from "./clusteroverridepolicy/cluster-override-policy.ts";
import { clusterTaintPolicy } from "./clustertaintpolicy/cluster-taint-policy.ts";
import { resourceBinding } from "./resourcebinding/resource-binding.ts";
import { clusterResourceBinding } from "./clusterresourcebinding/cluster-resource-binding.ts";
import { work } from "./work/work.ts";
import { workloadRebalancer } from "./workloadrebalancer/workload-rebalancer.ts";
import { resourceInterpreterCustomization } from "./resourceinterpretercustomization/resource-interpreter-customization.ts";
import { resourceInterpreterWebhookConfiguration } from "./resourceinterpreterwebhookconfiguration/resource-interpreter-webhook-configuration.ts";
import type { ClusterTaintPolicyOptions } from "./clustertaintpolicy/cluster-taint-policy-rules.ts";

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
  cluster,
];

export const karmadaAdmissions = (taintPolicies?: ClusterTaintPolicyOptions): readonly AnyAdmission[] =>
  rulesOf(karmadaDefinitions, taintPolicies);
