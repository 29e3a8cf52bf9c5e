/** AdvancedCronJob: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { advancedCronJobInterpreter } from "./advancedcronjob-interpreter.ts";

export const advancedCronJob = defineKruiseKind({
  kind: { group: "apps.kruise.io", kind: "AdvancedCronJob" },
  interpreter: advancedCronJobInterpreter,
});
