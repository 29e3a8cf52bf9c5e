/** PodProbeMarker: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { podProbeMarkerInterpreter } from "./podprobemarker-interpreter.ts";

export const podProbeMarker = defineKruiseKind({
  kind: { group: "apps.kruise.io", kind: "PodProbeMarker" },
  interpreter: podProbeMarkerInterpreter,
});
