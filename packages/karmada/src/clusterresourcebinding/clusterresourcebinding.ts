import { defineKind } from "@flotilla/kubernetes";
import { ClusterResourceBinding } from "./clusterresourcebinding-kind.ts";
import { clusterResourceBindingRules } from "./clusterresourcebinding-rules.ts";

const example: ClusterResourceBinding = {
  apiVersion: "work.karmada.io/v1alpha2",
  kind: "ClusterResourceBinding",
  metadata: { name: "web" },
  spec: { resource: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "viewer" } },
};

export const clusterResourceBinding = defineKind({
  kind: ClusterResourceBinding,
  example,
  rules: clusterResourceBindingRules,
});
