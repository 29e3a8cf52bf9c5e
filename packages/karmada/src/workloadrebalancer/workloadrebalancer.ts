import { defineKind } from "@flotilla/kubernetes";
import { WorkloadRebalancer } from "./workloadrebalancer-kind.ts";

const example: WorkloadRebalancer = {
  apiVersion: "apps.karmada.io/v1alpha1",
  kind: "WorkloadRebalancer",
  metadata: { name: "web" },
  spec: { workloads: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }] },
};

export const workloadRebalancer = defineKind({
  kind: WorkloadRebalancer,
  example,
});
