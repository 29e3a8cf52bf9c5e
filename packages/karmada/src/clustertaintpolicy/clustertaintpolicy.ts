import { defineKind } from "@flotilla/kubernetes";
import { ClusterTaintPolicy } from "./clustertaintpolicy-kind.ts";
import { clusterTaintPolicyRules, type ClusterTaintPolicyOptions } from "./clustertaintpolicy-rules.ts";

const example: ClusterTaintPolicy = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterTaintPolicy",
  metadata: { name: "web" },
  spec: { taints: [{ key: "a", effect: "NoSchedule" }] },
};

export const clusterTaintPolicy = defineKind<ClusterTaintPolicyOptions | undefined>({
  kind: ClusterTaintPolicy,
  example,
  rules: clusterTaintPolicyRules,
});
