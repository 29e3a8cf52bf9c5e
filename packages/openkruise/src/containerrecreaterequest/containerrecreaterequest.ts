/** ContainerRecreateRequest: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createRecreateRequestController } from "./containerrecreaterequest-controller.ts";
import { containerRecreateRequestInterpreter } from "./containerrecreaterequest-interpreter.ts";
import { ContainerRecreateRequest } from "./containerrecreaterequest-kind.ts";
import { recreateRequestStates } from "./containerrecreaterequest-metrics.ts";
import { containerRecreateRequestRules } from "./containerrecreaterequest-rules.ts";

export const containerRecreateRequest = defineKruiseKind({
  kind: ContainerRecreateRequest,
  example: exampleOf(ContainerRecreateRequest, { spec: { podName: "web-0", containers: [{ name: "main" }] } }),
  rules: containerRecreateRequestRules,
  interpreter: containerRecreateRequestInterpreter,
  controllers: (deps) =>
    (deps.gates ?? DEFAULT_GATES).isOn("KruiseDaemon") ? [createRecreateRequestController(deps)] : [],
  states: recreateRequestStates,
});
