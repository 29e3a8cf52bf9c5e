/** PodProbeMarker: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createNodePodProbeController } from "./nodepodprobe-controller.ts";
import { createProbeAdmissions } from "./probe-admission.ts";
import { createPodProbeMarkerController } from "./podprobemarker-controller.ts";
import { podProbeMarkerInterpreter } from "./podprobemarker-interpreter.ts";
import { PodProbeMarker } from "./podprobemarker-kind.ts";
import { podProbeMarkerRules } from "./podprobemarker-rules.ts";

export const podProbeMarker = defineKruiseKind({
  kind: PodProbeMarker,
  example: exampleOf(PodProbeMarker, {
    spec: {
      selector: { matchLabels: { app: "web" } },
      probes: [
        {
          name: "idle",
          containerName: "main",
          probe: { exec: { command: ["true"] } },
          podConditionType: "shop.example.com/idle",
        },
      ],
    },
  }),
  rules: podProbeMarkerRules,
  webhooks: createProbeAdmissions,
  interpreter: podProbeMarkerInterpreter,
  controllers: (deps) =>
    (deps.gates ?? DEFAULT_GATES).isOn("PodProbeMarkerGate")
      ? [createNodePodProbeController(deps), createPodProbeMarkerController(deps)]
      : [],
});
