import { defineKind } from "@flotilla/kubernetes";
import { ClusterOverridePolicy } from "./clusteroverridepolicy-kind.ts";
import { clusterOverridePolicyRules } from "./clusteroverridepolicy-rules.ts";

const example: ClusterOverridePolicy = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterOverridePolicy",
  metadata: { name: "web" },
  spec: {},
};

export const clusterOverridePolicy = defineKind({
  kind: ClusterOverridePolicy,
  example,
  rules: clusterOverridePolicyRules,
});
