import { defineKind } from "@flotilla/kubernetes";
import { ManagedClusterSet } from "./managedclusterset-kind.ts";

const example: ManagedClusterSet = {
  apiVersion: "cluster.open-cluster-management.io/v1beta2",
  kind: "ManagedClusterSet",
  metadata: { name: "web" },
  spec: {},
};

export const managedClusterSet = defineKind({ kind: ManagedClusterSet, example });
