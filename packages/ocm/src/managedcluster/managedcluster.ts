import { defineKind } from "@flotilla/kubernetes";
import { ManagedCluster } from "./managedcluster-kind.ts";
import { managedClusterRules } from "./managedcluster-rules.ts";

const example: ManagedCluster = {
  apiVersion: "cluster.open-cluster-management.io/v1",
  kind: "ManagedCluster",
  metadata: { name: "web" },
  spec: { managedClusterClientConfigs: [{ url: "https://web.example.com" }] },
};

export const managedCluster = defineKind({ kind: ManagedCluster, example, rules: managedClusterRules });
