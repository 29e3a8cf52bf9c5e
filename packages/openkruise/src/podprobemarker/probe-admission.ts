/** The pod webhook of PodProbeMarkers: new pods carry their probes, for nodes without a daemon. */
import type { Admission } from "@flotilla/apimachinery";
import { Pod } from "@flotilla/kubernetes";
import type { KruiseWebhookOptions } from "../api/kruise-definition.ts";
import { isPodInScope } from "../api/webhook-scope.ts";
import { selects } from "./plan-probes.ts";
import { PodProbeMarker } from "./podprobemarker-kind.ts";
import { withCarriedProbes } from "./serverless.ts";

export function createProbeAdmissions(options: KruiseWebhookOptions): Admission<Pod>[] {
  if (!options.gates.isOn("EnablePodProbeMarkerOnServerless")) return [];
  return [
    {
      name: "PodProbeMarker",
      for: Pod,
      on: ["CREATE"],
      mutate(review) {
        const { object, cluster, subresource, read } = review;
        if (subresource !== undefined || !options.appliesTo(cluster)) return object;
        const markers = read
          .written(PodProbeMarker, object.metadata.namespace)
          .filter((marker) => selects(marker, object));
        return markers.length > 0 && isPodInScope(review, options) ? withCarriedProbes(object, markers) : object;
      },
    },
  ];
}
