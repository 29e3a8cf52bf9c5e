import { defineKind } from "@flotilla/kubernetes";
import { policyNotes } from "../policy/policy-notes.ts";
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
  summary:
    "Which objects, of any namespace or cluster-scoped, are propagated to which members, and how replicas are divided.",
  fieldNotes: policyNotes,
  example,
  rules: clusterPropagationPolicyRules,
});
