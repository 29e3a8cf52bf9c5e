/** OpenKruise PodProbeMarker: every member probes its own pods; the template counts the pods of the fleet. */
import type { KubernetesObject } from "../../../api/index.ts";
import { isObject, type JsonObject } from "../../../base/index.ts";
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { isObserved } from "../../workload.ts";
import { aggregateFields, reflectFields } from "../counters.ts";

interface PodProbeMarker extends KubernetesObject {
  status?: JsonObject;
}

const FIELDS = { counters: ["matchedPods"] };

export const podProbeMarkerInterpreter: KindInterpreter<PodProbeMarker> = {
  group: "apps.kruise.io",
  kind: "PodProbeMarker",
  reflectStatus: (marker) => reflectFields(marker, FIELDS.counters),
  aggregateStatus: (marker, items) => aggregateFields(marker, items, FIELDS),
  isHealthy: (marker) => isObject(marker.status) && isObserved(marker),
};
