import { defineKind } from "@flotilla/kubernetes";
import { CronFederatedHpa } from "./cronfederatedhpa-kind.ts";
import { cronFederatedHpaRules } from "./cronfederatedhpa-rules.ts";

const example: CronFederatedHpa = {
  apiVersion: "autoscaling.karmada.io/v1alpha1",
  kind: "CronFederatedHPA",
  metadata: { name: "web" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    rules: [{ name: "morning", schedule: "0 8 * * *", targetReplicas: 5 }],
  },
};

export const cronFederatedHpa = defineKind({
  kind: CronFederatedHpa,
  example,
  rules: cronFederatedHpaRules,
});
