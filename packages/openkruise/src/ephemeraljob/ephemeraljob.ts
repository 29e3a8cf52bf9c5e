/** EphemeralJob: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createEphemeralJobController } from "./ephemeraljob-controller.ts";
import { ephemeralJobInterpreter } from "./ephemeraljob-interpreter.ts";
import { EphemeralJob } from "./ephemeraljob-kind.ts";
import { ephemeralJobRules } from "./ephemeraljob-rules.ts";

export const ephemeralJob = defineKruiseKind({
  kind: EphemeralJob,
  example: exampleOf(EphemeralJob, {
    spec: {
      selector: { matchLabels: { app: "web" } },
      template: {
        ephemeralContainers: [
          { name: "debug", image: "busybox:1", imagePullPolicy: "IfNotPresent", terminationMessagePolicy: "File" },
        ],
      },
    },
  }),
  rules: ephemeralJobRules,
  interpreter: ephemeralJobInterpreter,
  controllers: (deps) => [createEphemeralJobController(deps)],
});
