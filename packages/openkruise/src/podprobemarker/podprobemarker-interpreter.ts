/** OpenKruise PodProbeMarker: every member probes its own pods; the template counts the pods of the fleet. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type JsonObject } from "@flotilla/base";
import { aggregateFields, isObserved, reflectFields } from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { concernOf, type ConcernedFields } from "../interpreter/concern.ts";

interface PodProbeMarker extends KubernetesObject {
  spec?: Pick<ConcernedFields, "selector">;
  status?: JsonObject;
}

const FIELDS = { counters: ["matchedPods"] };

export const podProbeMarkerInterpreter: KindInterpreter<PodProbeMarker> = {
  group: "apps.kruise.io",
  kind: "PodProbeMarker",
  concerns: ({ spec }) => concernOf(spec),
  reflectStatus: (marker) => reflectFields(marker, FIELDS.counters),
  aggregateStatus: (marker, items) => aggregateFields(marker, items, FIELDS),
  isHealthy: (marker) => isObject(marker.status) && isObserved(marker),
};
