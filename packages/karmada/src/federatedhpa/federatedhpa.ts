import { defineKind } from "@flotilla/kubernetes";
import { FederatedHpa } from "./federatedhpa-kind.ts";
import { federatedHpaRules } from "./federatedhpa-rules.ts";

const example: FederatedHpa = {
  apiVersion: "autoscaling.karmada.io/v1alpha1",
  kind: "FederatedHPA",
  metadata: { name: "web" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 10,
  },
};

export const federatedHpa = defineKind({
  kind: FederatedHpa,
  example,
  rules: federatedHpaRules,
});
