import { defineKind } from "@flotilla/kubernetes";
import { PropagationPolicy } from "./propagationpolicy-kind.ts";
import { propagationPolicyRules } from "./propagationpolicy-rules.ts";

const example: PropagationPolicy = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "web", namespace: "shop" },
  spec: { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }], placement: { replicaScheduling: {} } },
};

export const propagationPolicy = defineKind({
  kind: PropagationPolicy,
  example,
  rules: propagationPolicyRules,
});
