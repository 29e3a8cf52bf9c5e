import { defineKind } from "@flotilla/kubernetes";
import { ManagedClusterSetBinding } from "./managedclustersetbinding-kind.ts";
import { managedClusterSetBindingRules } from "./managedclustersetbinding-rules.ts";

const example: ManagedClusterSetBinding = {
  apiVersion: "cluster.open-cluster-management.io/v1beta2",
  kind: "ManagedClusterSetBinding",
  metadata: { name: "web", namespace: "shop" },
  spec: { clusterSet: "web" },
};

export const managedClusterSetBinding = defineKind({
  kind: ManagedClusterSetBinding,
  example,
  rules: managedClusterSetBindingRules,
});
