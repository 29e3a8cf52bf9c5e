import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { requestMatchDescriptions, trafficReferenceDescriptions } from "./traffic-descriptions.ts";

export const trafficRoutingDescriptions: FieldDescriptions = {
  "": "Routes of a service that are switched on while a release of a Rollout that names it is in progress.",
  spec: "The service and the routes.",
  ...descriptionsAt("spec.objectRef", trafficReferenceDescriptions),
  "spec.objectRef": "The service and its routes.",
  "spec.strategy": "Which requests the new revision gets.",
  "spec.strategy.weight": "The share of requests, in percent.",
  ...descriptionsAt("spec.strategy", requestMatchDescriptions),
  status: "Whether the routes are switched on.",
  "status.observedGeneration": "The generation that the status is about.",
  "status.phase": "Initial, Healthy, Progressing, Finalizing or Terminating.",
  "status.message": "What happens now.",
};
