import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";
import {
  BUDGET_OF_MEMBERS,
  HISTORY,
  lifecycleDescriptions,
  SELECTOR,
  TEMPLATE,
  kruiseConditionsDescriptions,
} from "../api/strategy-descriptions.ts";

const ROLLING = "spec.updateStrategy.rollingUpdate";

export const daemonSetDescriptions: FieldDescriptions = {
  "": "OpenKruise's DaemonSet, with a partition, surging, and rollouts by node.",
  spec: "The desired state of the workload.",
  "spec.selector": SELECTOR,
  ...descriptionsAt("spec.selector", labelSelectorDescriptions),
  "spec.template": TEMPLATE,
  "spec.minReadySeconds": "How long a pod must be ready before it counts as available, in seconds. 0 by default.",
  "spec.revisionHistoryLimit": HISTORY,
  "spec.burstReplicas":
    "How many pods a member creates at a time: a number, or a percentage of its nodes. 250 by default. It applies to each member.",
  ...descriptionsAt("spec.lifecycle", lifecycleDescriptions),
  "spec.lifecycle": "Hooks with which another controller holds a pod. Only preDelete has an effect.",
  "spec.lifecycle.inPlaceUpdate": "Rejected: DaemonSets do not support this hook.",
  "spec.lifecycle.preNormal": "Has no effect on DaemonSets.",
  "spec.scaleStrategy": "How pods are created on new nodes.",
  "spec.scaleStrategy.partitionedScaling":
    "true applies the partition to new nodes as well: as many nodes get no pod. In v1alpha1 it is the annotation daemonset.kruise.io/progressive-create-pod.",
  "spec.updateStrategy": "How a change of the template reaches the pods.",
  "spec.updateStrategy.type":
    "RollingUpdate, the default, updates pods; OnDelete only gives the new template to pods that replace deleted ones.",
  [ROLLING]: "Options of the type RollingUpdate.",
  [`${ROLLING}.rollingUpdateType`]:
    "Standard, the default, recreates pods. InPlaceIfPossible changes running pods if only images or metadata " +
    "changed; maxSurge must be 0. Surging, only in v1alpha1, is Standard with maxSurge 1.",
  [`${ROLLING}.partition`]:
    "How many nodes keep the old template: a number, or a percentage. It counts the nodes of the fleet; the hub divides it by the nodes that members report.",
  [`${ROLLING}.selector`]: "Selects the nodes to update by their labels; the others keep the old template.",
  ...descriptionsAt(`${ROLLING}.selector`, labelSelectorDescriptions),
  [`${ROLLING}.paused`]: "true stops the update. Pods that are already updated stay so.",
  [`${ROLLING}.maxUnavailable`]:
    "The largest number of nodes without an available pod during an update; 1 by default. Must be 0 if maxSurge " +
    `is not. ${BUDGET_OF_MEMBERS}`,
  [`${ROLLING}.maxSurge`]:
    "How many nodes may run the old and the new pod during an update; 0 by default. Must be 0 if maxUnavailable " +
    `is not. ${BUDGET_OF_MEMBERS}`,

  status: "The observed state; on the hub, summed over the members.",
  "status.desiredNumberScheduled": "Nodes that must run a pod.",
  "status.currentNumberScheduled": "Nodes that must run a pod and do.",
  "status.numberMisscheduled": "Nodes that run a pod and must not.",
  "status.numberReady": "Nodes with a ready pod.",
  "status.numberAvailable": "Nodes with an available pod.",
  "status.numberUnavailable": "Nodes without an available pod.",
  "status.updatedNumberScheduled": "Nodes with a pod of the latest template.",
  "status.updateRevision": "The revision of the latest template.",
  "status.daemonSetHash": "The revision of the latest template.",
  "status.observedGeneration": "The generation that the status reflects.",
  "status.collisionCount": "How often the name of a revision was already taken.",
  "status.conditions": "Conditions of the last reconcile.",
  ...descriptionsAt("status.conditions", kruiseConditionsDescriptions),
};
