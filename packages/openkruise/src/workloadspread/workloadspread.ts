/** WorkloadSpread: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { workloadSpreadInterpreter } from "./workloadspread-interpreter.ts";
import { workloadSpreadStates } from "./workloadspread-metrics.ts";

export const workloadSpread = defineKruiseKind({
  kind: { group: "apps.kruise.io", kind: "WorkloadSpread" },
  interpreter: workloadSpreadInterpreter,
  states: workloadSpreadStates,
});
