/** The admissions of Karmada's kinds, apart from those that depend on what kinds mean (Work, interpreters). */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { admissions as cluster } from "./cluster.ts";
import { admissions as clusterOverridePolicy } from "./cluster-override-policy.ts";
import { admissions as clusterPropagationPolicy } from "./cluster-propagation-policy.ts";
import { admissions as clusterResourceBinding } from "./cluster-resource-binding.ts";
import { admissions as overridePolicy } from "./override-policy.ts";
import { admissions as propagationPolicy } from "./propagation-policy.ts";
import { admissions as resourceBinding } from "./resource-binding.ts";
import { admissions as resourceInterpreterWebhookConfiguration } from "./resource-interpreter-webhook-configuration.ts";
import { createClusterTaintPolicyAdmissions, type ClusterTaintPolicyOptions } from "./cluster-taint-policy.ts";

export const karmadaAdmissions = (taintPolicies?: ClusterTaintPolicyOptions): readonly AnyAdmission[] => [
  ...cluster,
  ...clusterOverridePolicy,
  ...clusterPropagationPolicy,
  ...clusterResourceBinding,
  ...overridePolicy,
  ...propagationPolicy,
  ...resourceBinding,
  ...resourceInterpreterWebhookConfiguration,
  ...createClusterTaintPolicyAdmissions(taintPolicies),
];
