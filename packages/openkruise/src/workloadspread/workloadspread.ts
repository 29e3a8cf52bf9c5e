/** WorkloadSpread: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createSpreadAdmissions } from "./spread-admission.ts";
import { createWorkloadSpreadController } from "./workloadspread-controller.ts";
import { workloadSpreadInterpreter } from "./workloadspread-interpreter.ts";
import { WorkloadSpread } from "./workloadspread-kind.ts";
import { workloadSpreadStates } from "./workloadspread-metrics.ts";
import { workloadSpreadRules } from "./workloadspread-rules.ts";

export const workloadSpread = defineKruiseKind({
  kind: WorkloadSpread,
  example: exampleOf(WorkloadSpread, {
    spec: {
      targetRef: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" },
      subsets: [{ name: "base", maxReplicas: 3 }, { name: "burst" }],
    },
  }),
  rules: workloadSpreadRules,
  webhooks: createSpreadAdmissions,
  interpreter: workloadSpreadInterpreter,
  controllers: createWorkloadSpreadController,
  states: workloadSpreadStates,
});
