import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";
import {
  BUDGET_OF_FLEET,
  HISTORY,
  inPlaceUpdateDescriptions,
  lifecycleDescriptions,
  priorityDescriptions,
  SELECTOR,
  TEMPLATE,
  UPDATE_POLICY,
  kruiseConditionsDescriptions,
  COUNTS_FLEET,
  REPLICAS,
} from "../api/strategy-descriptions.ts";

const ROLLING = "updateStrategy.rollingUpdate";
const RETENTION = "persistentVolumeClaimRetentionPolicy";

/** The spec, which is also a template of UnitedDeployments. */
export const statefulSetSpecDescriptions: FieldDescriptions = {
  "": "The desired state of the workload.",
  replicas: `${REPLICAS} Divided, each ordinal exists on one member of the fleet.`,
  selector: SELECTOR,
  ...descriptionsAt("selector", labelSelectorDescriptions),
  template: TEMPLATE,
  serviceName: "The headless Service of the pods, which must exist. Cannot be changed.",
  podManagementPolicy:
    "OrderedReady, the default, creates and deletes pods one after the other, on each member; Parallel all at " +
    "once. Cannot be changed. Budgets other than 1 need Parallel.",
  ordinals: "The numbering of the pods.",
  "ordinals.start":
    "The first ordinal; 0 by default. Members need OpenKruise's gate StatefulSetStartOrdinal, which is off by default.",
  reserveOrdinals:
    "Ordinals that are not used: numbers, or ranges such as 5-8. Pods with higher ordinals take their place.",
  revisionHistoryLimit: HISTORY,
  ...descriptionsAt("lifecycle", lifecycleDescriptions),
  volumeClaimTemplates:
    "PersistentVolumeClaims of each pod. A change affects only new claims, unless volumeClaimUpdateStrategy is " +
    "set. Volumes stay on their member when replicas move to another one.",
  volumeClaimUpdateStrategy: "What a change of volumeClaimTemplates does to existing claims.",
  "volumeClaimUpdateStrategy.type":
    "OnPodRollingUpdate expands the claims of a pod before the pod is updated; only the size may grow. " +
    "OnDelete, the default, leaves claims unchanged. Members need OpenKruise's gate " +
    "StatefulSetAutoResizePVCGate, which is off by default.",
  [RETENTION]: "What happens to claims on deletion or scale-down.",
  [`${RETENTION}.whenDeleted`]:
    "Retain, the default, keeps the claims when the workload is deleted; Delete deletes them.",
  [`${RETENTION}.whenScaled`]:
    "Retain, the default, keeps the claims of pods that a scale-down removes; Delete deletes them.",
  scaleStrategy: "How pods are created when the number of replicas changes.",
  "scaleStrategy.maxUnavailable":
    "The largest number of unavailable pods while pods are created; unset: no limit. Values other than 1 need " +
    `Parallel. ${BUDGET_OF_FLEET}`,
  updateStrategy: "How a change of the template reaches the pods.",
  "updateStrategy.type":
    "RollingUpdate, the default, updates pods from the highest ordinal down; OnDelete only gives the new template to pods that replace deleted ones.",
  [ROLLING]: "Options of the type RollingUpdate.",
  [`${ROLLING}.partition`]: `How many pods keep the old template: those with the lowest ordinals. A number, 0 by default. ${COUNTS_FLEET}`,
  [`${ROLLING}.maxUnavailable`]: `The largest number of unavailable pods during an update; 1 by default. Other values need Parallel. ${BUDGET_OF_FLEET}`,
  [`${ROLLING}.podUpdatePolicy`]: `${UPDATE_POLICY} The in-place policies need the readiness gate InPlaceUpdateReady in the template.`,
  [`${ROLLING}.paused`]: "true stops the update. Pods that are already updated stay so, and scaling continues.",
  [`${ROLLING}.minReadySeconds`]:
    "How long an updated pod must be ready before it counts as available, from 0 to 300 seconds.",
  [`${ROLLING}.unorderedUpdate`]: "Updates pods in another order than by ordinal. Needs Parallel.",
  ...descriptionsAt(`${ROLLING}.unorderedUpdate.priorityStrategy`, priorityDescriptions),
  ...descriptionsAt(`${ROLLING}.inPlaceUpdateStrategy`, inPlaceUpdateDescriptions),
};

export const statefulSetDescriptions: FieldDescriptions = {
  "": "OpenKruise's StatefulSet, with a partition, in-place updates, reserved ordinals, and parallel updates.",
  ...descriptionsAt("spec", statefulSetSpecDescriptions),
  status: "The observed state; on the hub, summed over the members.",
  "status.replicas": "The number of pods.",
  "status.readyReplicas": "Pods that are ready.",
  "status.availableReplicas": "Pods that are available.",
  "status.currentReplicas": "Pods of the revision before the update.",
  "status.updatedReplicas": "Pods of the latest template.",
  "status.updatedReadyReplicas": "Pods of the latest template that are ready.",
  "status.updatedAvailableReplicas": "Pods of the latest template that are available.",
  "status.updateRevision": "The revision of the latest template.",
  "status.currentRevision": "The revision before the update, and the latest one when all pods have it.",
  "status.labelSelector": "The selector as text, for autoscalers.",
  "status.observedGeneration": "The generation that the status reflects.",
  "status.collisionCount": "How often the name of a revision was already taken.",
  "status.conditions": "Conditions of the last reconcile.",
  ...descriptionsAt("status.conditions", kruiseConditionsDescriptions),
  "status.volumeClaims": "How many claims fit the current templates.",
};
