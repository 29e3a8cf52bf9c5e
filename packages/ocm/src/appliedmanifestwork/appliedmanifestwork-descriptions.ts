import type { FieldDescriptions } from "@flotilla/apimachinery";

export const appliedManifestWorkDescriptions: FieldDescriptions = {
  "": "The objects that a ManifestWork of a hub applied to this cluster. Deleting it deletes those objects.",
  spec: "The ManifestWork. The agent writes it.",
  "spec.hubHash": "The hash that identifies the hub.",
  "spec.manifestWorkName": "The name of the ManifestWork on the hub.",
  "spec.agentID": "The ID of the agent that applied it.",
  status: "The objects.",
  "status.appliedResources": "The applied objects, with their uid.",
  "status.appliedResources[].group": "The API group of the object; empty for the core group.",
  "status.appliedResources[].version": "The API version of the object.",
  "status.appliedResources[].resource": "The plural name of the kind.",
  "status.appliedResources[].namespace": "The namespace of the object.",
  "status.appliedResources[].name": "The name of the object.",
  "status.appliedResources[].uid": "The UID of the object. An object with another UID is not deleted.",
  "status.evictionStartTime": "The time since when the ManifestWork is missing on the hub.",
};
