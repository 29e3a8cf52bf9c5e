import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";
import { probeDescriptions } from "../pod/probe-descriptions.ts";

export const podProbeMarkerDescriptions: FieldDescriptions = {
  "": "Probes pods, and writes the results to their conditions, labels and annotations. On the hub, each member probes its own pods.",
  spec: "The pods and the probes.",
  ...descriptionsAt("spec.selector", labelSelectorDescriptions),
  "spec.selector": "The labels of the pods. It cannot be changed, and an empty one is not allowed.",
  "spec.probes": "The probes.",
  "spec.probes[].name": "The name of the probe. Each is different, and none contains #.",
  "spec.probes[].containerName": "The container that is probed.",
  ...descriptionsAt("spec.probes[].probe", probeDescriptions),
  "spec.probes[].markerPolicy": "Metadata of the pod after a result. The metadata of the other result is removed.",
  "spec.probes[].markerPolicy[].state": "Succeeded or Failed.",
  "spec.probes[].markerPolicy[].labels": "Labels of the pod in this state.",
  "spec.probes[].markerPolicy[].labels.*": "The value of the label.",
  "spec.probes[].markerPolicy[].annotations": "Annotations of the pod in this state.",
  "spec.probes[].markerPolicy[].annotations.*": "The value of the annotation.",
  "spec.probes[].podConditionType":
    "The condition of the pod that is True after a success and otherwise False. Needed if there is no markerPolicy.",
  status: "The pods. On the hub, the sum over the members.",
  "status.observedGeneration": "The generation of the spec that the status belongs to.",
  "status.matchedPods": "The initialized pods that match the selector.",
};
