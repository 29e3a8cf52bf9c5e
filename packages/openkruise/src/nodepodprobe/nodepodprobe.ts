/** NodePodProbe: everything that Flotilla knows about the kind. Only members have any. */
import { exampleOf } from "@flotilla/kubernetes";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createNodePodProbeController } from "./nodepodprobe-controller.ts";
import { NodePodProbe } from "./nodepodprobe-kind.ts";

export const nodePodProbe = defineKruiseKind({
  kind: NodePodProbe,
  example: exampleOf(NodePodProbe, {}),
  controllers: (deps) =>
    (deps.gates ?? DEFAULT_GATES).isOn("PodProbeMarkerGate") ? [createNodePodProbeController(deps)] : [],
});
