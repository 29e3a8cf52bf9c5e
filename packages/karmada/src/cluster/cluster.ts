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
  example,
  rules: clusterRules,
});
