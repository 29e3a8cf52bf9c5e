/** BatchRelease: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createBatchReleaseController } from "./batchrelease-controller.ts";
import { BatchRelease } from "./batchrelease-kind.ts";

export const batchRelease = defineKruiseKind({
  kind: BatchRelease,
  example: exampleOf(BatchRelease, {
    spec: {
      workloadRef: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web" },
      releasePlan: { batches: [{ canaryReplicas: "20%" }], batchPartition: 0, enableExtraWorkloadForCanary: false },
    },
  }),
  controllers: (deps) => [createBatchReleaseController(deps)],
});
