import { defineKind } from "@flotilla/kubernetes";
import { ClusterPropagationPolicy } from "./clusterpropagationpolicy-kind.ts";
import { clusterPropagationPolicyRules } from "./clusterpropagationpolicy-rules.ts";

const example: ClusterPropagationPolicy = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterPropagationPolicy",
  metadata: { name: "web" },
  spec: { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }] },
};

export const clusterPropagationPolicy = defineKind({
  kind: ClusterPropagationPolicy,
  example,
  rules: clusterPropagationPolicyRules,
});
