import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { probeDescriptions } from "../pod/probe-descriptions.ts";

export const nodePodProbeDescriptions: FieldDescriptions = {
  "": "The probes that OpenKruise's daemon runs on a node, and their results. Written by OpenKruise; it has the name of the node.",
  spec: "The probes.",
  "spec.podProbes": "The pods of the node that are probed.",
  "spec.podProbes[].name": "The name of the pod.",
  "spec.podProbes[].namespace": "The namespace of the pod.",
  "spec.podProbes[].uid": "The id of the pod.",
  "spec.podProbes[].IP": "The address of the pod.",
  "spec.podProbes[].probes": "The probes of the pod.",
  "spec.podProbes[].probes[].name": "The names of the PodProbeMarker and of its probe, with # between them.",
  "spec.podProbes[].probes[].containerName": "The container that is probed.",
  ...descriptionsAt("spec.podProbes[].probes[].probe", probeDescriptions),
  status: "The results, reported by the daemon.",
  "status.podProbeStatuses": "The pods.",
  "status.podProbeStatuses[].name": "The name of the pod.",
  "status.podProbeStatuses[].namespace": "The namespace of the pod.",
  "status.podProbeStatuses[].uid": "The id of the pod.",
  "status.podProbeStatuses[].probeStates": "The results of the probes.",
  "status.podProbeStatuses[].probeStates[].name": "The name of the probe, as in the spec.",
  "status.podProbeStatuses[].probeStates[].state": "Succeeded, Failed or Unknown.",
  "status.podProbeStatuses[].probeStates[].lastProbeTime": "When the container was probed.",
  "status.podProbeStatuses[].probeStates[].lastTransitionTime": "When the state last changed.",
  "status.podProbeStatuses[].probeStates[].message": "What the probe returned.",
};
