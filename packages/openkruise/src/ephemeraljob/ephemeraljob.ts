/** EphemeralJob: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { ephemeralJobInterpreter } from "./ephemeraljob-interpreter.ts";

export const ephemeralJob = defineKruiseKind({
  kind: { group: "apps.kruise.io", kind: "EphemeralJob" },
  interpreter: ephemeralJobInterpreter,
});
