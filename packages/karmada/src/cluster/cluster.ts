import { defineKind } from "@flotilla/kubernetes";
import { Cluster } from "./cluster-kind.ts";
import { clusterRules } from "./cluster-rules.ts";

const example: Cluster = {
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name: "web" },
  spec: { syncMode: "Push" },
};

export const cluster = defineKind({
  kind: Cluster,
  summary: "A member of the fleet: its connection, health, served kinds and available resources.",
  fieldNotes: {
    "spec.syncMode": "`Push`: the hub connects to the member. `Pull`: an agent on the member connects to the hub.",
    "spec.apiEndpoint": "The address of the member's API server.",
    "spec.secretRef": "The Secret with the hub's credentials for the member.",
    "spec.impersonatorSecretRef": "The Secret with the credentials for impersonating users through the cluster proxy.",
    "spec.insecureSkipTLSVerification": "Skips the verification of the member's certificate.",
    "spec.proxyURL": "The proxy to reach the member through.",
    "spec.taints": "Exclude the member from scheduling, or evict its workloads.",
    "spec.resourceModels": "Node sizes for estimating available replicas.",
    "status.kubernetesVersion": "As reported by the member.",
    "status.apiEnablements": "The kinds it serves.",
    "status.conditions": "Ready, CompleteAPIEnablements and Unjoining.",
    "status.resourceSummary": "The resources of its nodes, and the requests of its pods.",
  },
  example,
  rules: clusterRules,
});
