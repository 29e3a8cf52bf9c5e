import { defineKind } from "@flotilla/kubernetes";
import { bindingNotes } from "../binding/binding-notes.ts";
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
  summary: "The scheduling result of a cluster-scoped object, and its members' reports. Created by Flotilla.",
  fieldNotes: bindingNotes,
  example,
  rules: clusterResourceBindingRules,
});
