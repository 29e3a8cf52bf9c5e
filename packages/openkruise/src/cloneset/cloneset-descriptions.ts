import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";
import {
  BUDGET_OF_FLEET,
  HISTORY,
  inPlaceUpdateDescriptions,
  lifecycleDescriptions,
  priorityDescriptions,
  scatterDescriptions,
  SELECTOR,
  TEMPLATE,
  UPDATE_POLICY,
  kruiseConditionsDescriptions,
  COUNTS_FLEET,
  REPLICAS,
} from "../api/strategy-descriptions.ts";

const PRE_DOWNLOAD = "For OpenKruise on real members; simulated members download nothing in advance.";

/** In `updateStrategy` in v1alpha1, and in `updateStrategy.rollingUpdate` in v1beta1. */
const preDownloadDescriptions: FieldDescriptions = {
  imagePreDownloadParallelism: `How many nodes download a new image at a time before pods are updated in place. ${PRE_DOWNLOAD}`,
  imagePreDownloadTimeoutSeconds: `The time limit of such a download, in seconds. ${PRE_DOWNLOAD}`,
  imagePreDownloadMinUpdatedReadyPods:
    "How many pods must be updated and ready before images are downloaded to the other nodes. " + PRE_DOWNLOAD,
};
const rollingDescriptions: FieldDescriptions = {
  partition:
    `How many pods keep the old template: a number, or a percentage. 0 by default. ${COUNTS_FLEET} Only a ` +
    "partition that counts the fleet rolls pods back when it is raised.",
  maxUnavailable: `The largest number of unavailable pods during an update; 20% by default. ${BUDGET_OF_FLEET}`,
  maxSurge:
    "How many pods more than replicas an update may create; 0 by default. Not with InPlaceOnly. If a policy " +
    "divides the replicas, it is divided over the members as well.",
  paused: "true stops the update. Pods that are already updated stay so, and scaling continues.",
  ...descriptionsAt("priorityStrategy", priorityDescriptions),
  ...descriptionsAt("scatterStrategy", scatterDescriptions),
  ...descriptionsAt("inPlaceUpdateStrategy", inPlaceUpdateDescriptions),
};

/** The spec, which is also a template of UnitedDeployments. */
export const cloneSetSpecDescriptions: FieldDescriptions = {
  "": "The desired state of the workload.",
  replicas: REPLICAS,
  selector: SELECTOR,
  ...descriptionsAt("selector", labelSelectorDescriptions),
  template: TEMPLATE,
  volumeClaimTemplates:
    "PersistentVolumeClaims of each pod. A change affects only new pods. Volumes stay on their member when replicas move to another one.",
  minReadySeconds: "How long a pod must be ready before it counts as available, in seconds. 0 by default.",
  revisionHistoryLimit: HISTORY,
  progressDeadlineSeconds:
    "How long an update may make no progress before the condition Progressing is False, in seconds. Must " +
    "exceed minReadySeconds. Unset: there is no such condition.",
  ...descriptionsAt("lifecycle", lifecycleDescriptions),
  scaleStrategy: "How pods are created and deleted when the number of replicas changes.",
  "scaleStrategy.podsToDelete":
    "Names of pods that are deleted. Reduce replicas as well, or new pods replace them. Of a CloneSet on " +
    "the hub, each member gets the names of the pods that it has, and replicas that are reduced in the " +
    "same change are taken from these members.",
  "scaleStrategy.maxUnavailable": `The largest number of unavailable pods while pods are created; unset: no limit. ${BUDGET_OF_FLEET}`,
  "scaleStrategy.enablePVCReuse":
    "true keeps the claims of a deleted pod for the pod that replaces it. By default they are deleted with the pod.",
  "scaleStrategy.disablePVCReuse":
    "true deletes the claims of a deleted pod. By default the pod that replaces it gets them. In v1beta1 the default is the opposite: enablePVCReuse.",
  "scaleStrategy.excludePreparingDelete":
    "true does not count pods that wait for their preDelete hook as replicas. v1alpha1 does not have the field.",
  updateStrategy: "How a change of the template reaches the pods.",
  "updateStrategy.type":
    "RollingUpdate updates pods; OnDelete only gives the new template to pods that replace deleted ones. " +
    "In v1alpha1 it is ReCreate, InPlaceIfPossible or InPlaceOnly, which is podUpdatePolicy in v1beta1.",
  ...descriptionsAt("updateStrategy", rollingDescriptions),
  "updateStrategy.rollingUpdate": "Options of the type RollingUpdate.",
  ...descriptionsAt("updateStrategy.rollingUpdate", rollingDescriptions),
  "updateStrategy.rollingUpdate.podUpdatePolicy": UPDATE_POLICY,
  ...descriptionsAt("updateStrategy.rollingUpdate.inPlaceUpdateStrategy", preDownloadDescriptions),
};

export const cloneSetDescriptions: FieldDescriptions = {
  "": "A Deployment with in-place updates, a partition, and pods that can be selected for deletion.",
  ...descriptionsAt("spec", cloneSetSpecDescriptions),
  status: "The observed state; on the hub, summed over the members.",
  "status.replicas": "The number of pods.",
  "status.readyReplicas": "Pods that are ready.",
  "status.availableReplicas": "Pods that have been ready for minReadySeconds.",
  "status.updatedReplicas": "Pods of the latest template.",
  "status.updatedReadyReplicas": "Pods of the latest template that are ready.",
  "status.updatedAvailableReplicas": "Pods of the latest template that are available.",
  "status.expectedUpdatedReplicas": "The number of updated pods that the partition requires.",
  "status.updateRevision": "The revision of the latest template.",
  "status.currentRevision": "The revision before the update, and the latest one when all pods have it.",
  "status.labelSelector": "The selector as text, for autoscalers.",
  "status.observedGeneration": "The generation that the status reflects.",
  "status.collisionCount": "How often the name of a revision was already taken.",
  "status.conditions": "Progressing, FailedScale and FailedUpdate.",
  ...descriptionsAt("status.conditions", kruiseConditionsDescriptions),
  "status.conditions[].lastUpdateTime": "When the condition was last written.",
};
