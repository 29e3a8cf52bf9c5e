/** The rules of policies for ClusterPropagationPolicy. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { policyAdmission } from "../policy/policy-rules.ts";
import { ClusterPropagationPolicy } from "./clusterpropagationpolicy-kind.ts";
import { CLUSTER_POLICY_FINALIZER, CLUSTER_POLICY_ID } from "../names/karmada-names.ts";

export const clusterPropagationPolicyRules: readonly AnyAdmission[] = [
  policyAdmission(ClusterPropagationPolicy, {
    webhook: "clusterpropagationpolicy.karmada.io",
    id: CLUSTER_POLICY_ID,
    finalizer: CLUSTER_POLICY_FINALIZER,
  }),
];
