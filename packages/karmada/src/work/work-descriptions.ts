import { conditionsDescriptions, descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";

export const workDescriptions: FieldDescriptions = {
  "": "The objects for one member, in the namespace karmada-es-NAME, and their status there. The hub creates it from a binding.",
  spec: "The objects, and how they are delivered.",
  "spec.workload": "The objects for the member.",
  "spec.workload.manifests": "The complete objects, as the member gets them.",
  "spec.suspendDispatching":
    "true stops sending changes to the member. The objects there stay, and drift is not repaired.",
  "spec.preserveResourcesOnDeletion":
    "true keeps the objects on the member when the Work is deleted. By default they are deleted.",
  status: "What the member reports.",
  "status.conditions": "Applied; Dispatching, Drifted and Managed when there is something to report.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
  "status.manifestStatuses": "The status of each object on the member.",
  "status.manifestStatuses[].identifier": "The object, and its place in the list of manifests.",
  "status.manifestStatuses[].health": "The health of the object, as the interpreter of its kind determines it.",
  "status.manifestStatuses[].status": "The part of the object's status that the interpreter of its kind reports.",
};
