import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { podMetadataDescriptions, rolloutConditionDescriptions } from "../released-workload/release-descriptions.ts";

const reference: FieldDescriptions = {
  "": "The workload to update.",
  apiVersion: "The API version of the workload.",
  kind: "The kind of the workload.",
  name: "The name of the workload.",
};

export const batchReleaseDescriptions: FieldDescriptions = {
  "": "Updates a workload batch by batch, up to a batch that its writer sets. Rollouts create them; it has no meaning on the hub.",
  spec: "The workload and the batches.",
  ...descriptionsAt("spec.workloadRef", reference),
  "spec.targetReference": "The workload.",
  ...descriptionsAt("spec.targetReference.workloadRef", reference),
  "spec.releasePlan": "The batches.",
  "spec.releasePlan.batches": "The batches, in order.",
  "spec.releasePlan.batches[].canaryReplicas":
    "How many pods run the new revision after the batch, earlier ones included: a number, or a percentage rounded up.",
  "spec.releasePlan.batchPartition":
    "The last batch that may be carried out, from 0. Unset after it was set: the rest is updated without batches.",
  "spec.releasePlan.rolloutID": "Labels the pods that are updated.",
  "spec.releasePlan.failureThreshold": "How many updated pods may be unavailable: a number, or a percentage of them.",
  "spec.releasePlan.finalizingPolicy":
    "WaitResume completes the release when all pods are updated; Immediate as soon as the workload is released.",
  ...descriptionsAt("spec.releasePlan.patchPodTemplateMetadata", podMetadataDescriptions),
  "spec.releasePlan.rollingStyle": "Partition, Canary or BlueGreen.",
  "spec.releasePlan.enableExtraWorkloadForCanary": "Deprecated in favour of rollingStyle.",
  status: "The observed state.",
  "status.conditions": "What happened.",
  ...descriptionsAt("status.conditions", rolloutConditionDescriptions),
  "status.phase": "Preparing, Progressing, Finalizing or Completed.",
  "status.message": "What happens now.",
  "status.stableRevision": "The revision before.",
  "status.updateRevision": "The new revision.",
  "status.observedGeneration": "The generation that the status is about.",
  "status.observedRolloutID": "The release that the status is about.",
  "status.observedWorkloadReplicas": "The pods of the workload when its batches were computed.",
  "status.observedReleasePlanHash": "A hash of the batches that the status is about.",
  "status.collisionCount": "How often the name of a canary workload was taken.",
  "status.canaryStatus": "The batch.",
  "status.canaryStatus.batchState": "Upgrading, Verifying or Ready.",
  "status.canaryStatus.currentBatch": "The batch, from 0.",
  "status.canaryStatus.batchReadyTime": "When the batch was ready.",
  "status.canaryStatus.updatedReplicas": "Pods that run the new revision.",
  "status.canaryStatus.updatedReadyReplicas": "Of these, pods that are ready.",
  "status.canaryStatus.noNeedUpdateReplicas": "Pods that ran the revision before the release.",
};
