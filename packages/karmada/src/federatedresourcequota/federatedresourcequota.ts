import { defineKind } from "@flotilla/kubernetes";
import { FederatedResourceQuota } from "./federatedresourcequota-kind.ts";
import { federatedResourceQuotaRules } from "./federatedresourcequota-rules.ts";

const example: FederatedResourceQuota = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "FederatedResourceQuota",
  metadata: { name: "team" },
  spec: { overall: { cpu: "10" }, staticAssignments: [{ clusterName: "member1", hard: { cpu: "4" } }] },
};

export const federatedResourceQuota = defineKind({
  kind: FederatedResourceQuota,
  example,
  rules: federatedResourceQuotaRules,
});
