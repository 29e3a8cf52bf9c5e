/** OpenKruise's PodProbeMarker: probes of pods whose results become conditions, labels and annotations. */
import type { PodProbeMarker as PodProbeMarkerFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { kruiseKind } from "../api/kruise-kind.ts";
import { podProbeMarkerDescriptions } from "./podprobemarker-descriptions.ts";

export type PodProbeMarker = PodProbeMarkerFacts;
export type ReadonlyMarker = DeepReadonly<PodProbeMarker>;

export const PodProbeMarker = kruiseKind<PodProbeMarker>({
  kind: "PodProbeMarker",
  plural: "podprobemarkers",
  columns: [],
  descriptions: podProbeMarkerDescriptions,
});
