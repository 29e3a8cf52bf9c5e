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
  summary: "Taints for members with certain conditions.",
  fieldNotes: {
    "spec.targetClusters": "The members it applies to; defaults to all.",
    "spec.addOnConditions": "The taints are added when a member's conditions match all of these.",
    "spec.removeOnConditions": "The taints are removed when a member's conditions match all of these.",
    "spec.taints": "NoSchedule; NoExecute needs `flotilla up --allow-no-execute-taint-policy`.",
  },
  example,
  rules: clusterTaintPolicyRules,
});
