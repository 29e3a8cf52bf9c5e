import { defineKind } from "@flotilla/kubernetes";
import { OverridePolicy } from "./overridepolicy-kind.ts";
import { overridePolicyRules } from "./overridepolicy-rules.ts";

const example: OverridePolicy = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "OverridePolicy",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
    overrideRules: [{ overriders: { labelsOverrider: [{ operator: "add", value: { a: "b" } }] } }],
  },
};

export const overridePolicy = defineKind({
  kind: OverridePolicy,
  example,
  rules: overridePolicyRules,
});
