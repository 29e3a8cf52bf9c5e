/** ContainerRecreateRequest: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { containerRecreateRequestInterpreter } from "./containerrecreaterequest-interpreter.ts";
import { recreateRequestStates } from "./containerrecreaterequest-metrics.ts";

export const containerRecreateRequest = defineKruiseKind({
  kind: { group: "apps.kruise.io", kind: "ContainerRecreateRequest" },
  interpreter: containerRecreateRequestInterpreter,
  states: recreateRequestStates,
});
