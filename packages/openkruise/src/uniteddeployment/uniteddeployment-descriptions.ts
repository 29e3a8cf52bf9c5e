import {
  descriptionsAt,
  labelSelectorDescriptions,
  nodeSelectorTermDescriptions,
  tolerationDescriptions,
  type FieldDescriptions,
} from "@flotilla/apimachinery";
import {
  HISTORY,
  SELECTOR,
  kruiseConditionsDescriptions,
  COUNTS_FLEET,
  REPLICAS,
} from "../api/strategy-descriptions.ts";
import { cloneSetSpecDescriptions } from "../cloneset/cloneset-descriptions.ts";
import { statefulSetSpecDescriptions } from "../statefulset/statefulset-descriptions.ts";

const SUBSET = "spec.topology.subsets[]";
const ADAPTIVE = "spec.topology.scheduleStrategy.adaptive";

const metadata = (kind: string): string =>
  `Labels and annotations of the ${kind}. The labels must match the selector of the UnitedDeployment.`;

const PARTITION = "Leave it unset: manualUpdate.partitions of the UnitedDeployment determines it.";
const UNAVAILABLE =
  "The largest number of unavailable pods of a subset during an update: a number, or a percentage. It applies to each subset of each member.";

/** Fields that the subset determines, and budgets, which the hub does not divide inside of a template. */
const inSubset: FieldDescriptions = {
  replicas: "Leave it unset: the subset determines the number of pods.",
  selector: "The selector of the UnitedDeployment, with the label of the subset, takes its place.",
  "scaleStrategy.maxUnavailable":
    "The largest number of unavailable pods of a subset while pods are created; unset: no limit. It applies to each subset of each member.",
  "updateStrategy.rollingUpdate.partition": PARTITION,
  "updateStrategy.rollingUpdate.maxUnavailable": UNAVAILABLE,
};

const SURGE =
  "How many pods more than the subset has an update may create; 0 by default. It applies to each subset of each member.";
const cloneSetInSubset: FieldDescriptions = {
  ...inSubset,
  "updateStrategy.rollingUpdate.maxSurge": SURGE,
  "updateStrategy.partition": PARTITION,
  "updateStrategy.maxUnavailable": UNAVAILABLE,
  "updateStrategy.maxSurge": SURGE,
};

export const unitedDeploymentDescriptions: FieldDescriptions = {
  "": "A workload that is divided over subsets, such as zones of one cluster.",
  spec: "The desired state of the workload.",
  "spec.replicas": `${REPLICAS} A member divides its pods over the subsets.`,
  "spec.selector": SELECTOR,
  ...descriptionsAt("spec.selector", labelSelectorDescriptions),
  "spec.revisionHistoryLimit": HISTORY,
  "spec.template":
    "The workload of each subset, of one of four kinds. The hub reads a bare pod template as a template of Deployments, with a warning.",
  "spec.template.deploymentTemplate": "Subsets are Deployments. They have no partition.",
  "spec.template.deploymentTemplate.metadata": metadata("Deployments"),
  "spec.template.deploymentTemplate.spec": "The spec of the Deployments, without replicas.",
  "spec.template.statefulSetTemplate": "Subsets are StatefulSets of Kubernetes.",
  "spec.template.statefulSetTemplate.metadata": metadata("StatefulSets"),
  "spec.template.statefulSetTemplate.spec": "The spec of the StatefulSets, without replicas and partition.",
  "spec.template.advancedStatefulSetTemplate": "Subsets are StatefulSets of OpenKruise.",
  "spec.template.advancedStatefulSetTemplate.metadata": metadata("StatefulSets"),
  ...descriptionsAt("spec.template.advancedStatefulSetTemplate.spec", { ...statefulSetSpecDescriptions, ...inSubset }),
  "spec.template.cloneSetTemplate": "Subsets are CloneSets.",
  "spec.template.cloneSetTemplate.metadata": metadata("CloneSets"),
  ...descriptionsAt("spec.template.cloneSetTemplate.spec", { ...cloneSetSpecDescriptions, ...cloneSetInSubset }),

  "spec.topology": "The subsets, and how pods are divided over them.",
  "spec.topology.subsets": "The subsets, in order. A member creates a workload for each of them.",
  [`${SUBSET}.name`]: "The name of the subset, unique in the workload: letters, digits and dashes.",
  [`${SUBSET}.nodeSelectorTerm`]: "The nodes of the subset, as in a node affinity of Kubernetes. Cannot be changed.",
  ...descriptionsAt(`${SUBSET}.nodeSelectorTerm`, nodeSelectorTermDescriptions),
  ...descriptionsAt(`${SUBSET}.tolerations[]`, tolerationDescriptions),
  [`${SUBSET}.tolerations`]: "Tolerations of the subset's pods, as in a pod of Kubernetes. Cannot be changed.",
  [`${SUBSET}.patch`]:
    "A strategic merge patch for the pod template of the subset, such as another environment variable.",
  [`${SUBSET}.replicas`]:
    "The pods of the subset: a number, or a percentage of all. Subsets without it share the rest evenly. " +
    "If a policy divides the replicas, it is divided over the members as well. Not together with " +
    "minReplicas, maxReplicas or Adaptive.",
  [`${SUBSET}.minReplicas`]:
    "The subset gets at least so many pods: a number, or a percentage. Subsets are filled in order, first " +
    "up to their minimum. If a policy divides the replicas, it is divided over the members as well.",
  [`${SUBSET}.maxReplicas`]:
    "The subset gets at most so many pods: a number, or a percentage. At least one subset must have no " +
    "maximum. If a policy divides the replicas, it is divided over the members as well.",
  "spec.topology.scheduleStrategy": "What happens if the pods of a subset find no nodes.",
  "spec.topology.scheduleStrategy.type":
    "Fixed, the default: the pods wait. Adaptive: other subsets get the pods that wait for too long.",
  [ADAPTIVE]: "Options of Adaptive.",
  [`${ADAPTIVE}.rescheduleCriticalSeconds`]:
    "How long a pod may wait for a node, in seconds since it was created; 30 by default.",
  [`${ADAPTIVE}.unschedulableDuration`]:
    "How long a subset whose pods found no nodes gets no further pods, in seconds; 300 by default. With " +
    "reserveUnschedulablePods: how long a pod must be ready before it is no longer reserved.",
  [`${ADAPTIVE}.reserveUnschedulablePods`]:
    "true keeps the pods that wait, and runs others in their place until they are ready. Only for CloneSets and Deployments.",

  "spec.updateStrategy": "How a change of the template reaches the pods.",
  "spec.updateStrategy.type": "Manual: all subsets get the new template at once, and partitions hold pods back.",
  "spec.updateStrategy.manualUpdate": "Options of Manual.",
  "spec.updateStrategy.manualUpdate.partitions":
    "How many pods of a subset keep the old template, by the name of the subset. Unset: 0. Deployments ignore " +
    `it. ${COUNTS_FLEET}`,
  "spec.updateStrategy.manualUpdate.partitions.*": "The number of pods of the subset.",

  status: "The observed state; on the hub, summed over the members.",
  "status.replicas": "The number of pods, without reserved ones.",
  "status.readyReplicas": "Pods that are ready.",
  "status.updatedReplicas": "Pods of the latest template.",
  "status.updatedReadyReplicas": "Pods of the latest template that are ready.",
  "status.reservedPods": "Pods that wait for a node while others run in their place.",
  "status.updatedRevision": "The revision of the latest template.",
  "status.currentRevision": "The revision that all pods have, before an update is complete.",
  "status.labelSelector": "The selector as text, for autoscalers.",
  "status.observedGeneration": "The generation that the status reflects.",
  "status.collisionCount": "How often the name of a revision was already taken.",
  "status.subsetStatuses": "The state of each subset.",
  "status.subsetStatuses[].name": "The name of the subset.",
  "status.subsetStatuses[].replicas": "The pods of the subset.",
  "status.subsetStatuses[].readyReplicas": "The ready pods of the subset.",
  "status.subsetStatuses[].partition": "How many of its pods keep the old template.",
  "status.subsetStatuses[].reservedPods": "Its pods that wait for a node while others run in their place.",
  "status.subsetStatuses[].conditions": "Schedulable reports whether its pods find nodes.",
  ...descriptionsAt("status.subsetStatuses[].conditions", kruiseConditionsDescriptions),
  "status.conditions": "SubsetProvisioned, SubsetUpdated, SubsetFailure and UnitedDeploymentUpdated.",
  ...descriptionsAt("status.conditions", kruiseConditionsDescriptions),
};
