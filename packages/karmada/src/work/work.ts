import { defineKind } from "@flotilla/kubernetes";
import { Work } from "./work-kind.ts";

const example: Work = {
  apiVersion: "work.karmada.io/v1alpha1",
  kind: "Work",
  metadata: { name: "web", namespace: "shop" },
  spec: {},
};

/** Its rules need to know what kinds mean, so the interpreter hands them in (`createWorkAdmissions`). */
export const work = defineKind({
  kind: Work,
  summary: "One member's copy of objects, and their status there. Created by Flotilla.",
  fieldNotes: {
    "spec.workload.manifests": "The objects as delivered to the member.",
    "spec.suspendDispatching": "Suspends the delivery.",
    "spec.preserveResourcesOnDeletion": "Keeps the objects when the Work is deleted.",
    "status.conditions": "Applied; Dispatching, Drifted and Managed if they apply.",
    "status.manifestStatuses": "Status and health of each object on the member.",
  },
  example,
});
