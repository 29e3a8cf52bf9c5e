import { defineKind } from "@flotilla/kubernetes";
import { ClusterClaim } from "./clusterclaim-kind.ts";

const example: ClusterClaim = {
  apiVersion: "cluster.open-cluster-management.io/v1alpha1",
  kind: "ClusterClaim",
  metadata: { name: "web" },
  spec: { value: "a" },
};

export const clusterClaim = defineKind({ kind: ClusterClaim, example });
