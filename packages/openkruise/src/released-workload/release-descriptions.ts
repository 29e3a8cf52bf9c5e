/** Fields that Rollouts and BatchReleases share. */
import type { FieldDescriptions } from "@flotilla/apimachinery";

/** Of the conditions of Rollouts and BatchReleases. */
export const rolloutConditionDescriptions: FieldDescriptions = {
  "[].type": "The kind of condition.",
  "[].status": "True, False or Unknown.",
  "[].reason": "A word for the cause.",
  "[].message": "The cause in a sentence.",
  "[].lastUpdateTime": "When the condition was last written.",
  "[].lastTransitionTime": "When the status last changed.",
};

export const podMetadataDescriptions: FieldDescriptions = {
  "": "Metadata that the pods of the canary get in addition. Only with a workload of its own for the canary.",
  annotations: "Annotations to add.",
  labels: "Labels to add.",
};
