import {
  descriptionsAt,
  labelSelectorDescriptions,
  nodeSelectorTermDescriptions,
  tolerationDescriptions,
  type FieldDescriptions,
} from "@flotilla/apimachinery";

const subsetStatus = (at: string): FieldDescriptions => ({
  [`${at}.name`]: "The name of the subset.",
  [`${at}.replicas`]: "The active pods of the subset.",
  [`${at}.missingReplicas`]: "How many more pods the subset takes. -1 means without limit.",
  [`${at}.creatingPods`]: "Pods that were admitted and are not seen yet, with the time; dropped after 30 seconds.",
  [`${at}.creatingPods.*`]: "When the pod was admitted.",
  [`${at}.deletingPods`]:
    "Pods whose deletion was admitted and is not seen yet, with the time; dropped after 15 seconds.",
  [`${at}.deletingPods.*`]: "When the deletion was admitted.",
  [`${at}.conditions`]: "Schedulable: whether pods find nodes in the subset. Only with the strategy Adaptive.",
  [`${at}.conditions[].type`]: "Schedulable.",
  [`${at}.conditions[].status`]: "False while new pods avoid the subset: for five minutes after a pod found no node.",
  [`${at}.conditions[].lastTransitionTime`]: "When the status last changed.",
  [`${at}.conditions[].reason`]: "Empty.",
  [`${at}.conditions[].message`]: "Empty.",
});

export const workloadSpreadDescriptions: FieldDescriptions = {
  "":
    "Divides the pods of a workload over subsets of the nodes of a cluster. On the hub, each member divides its " +
    "own pods: a number is the limit on each member, a percentage one of its own pods.",
  spec: "The workload and its subsets.",
  "spec.targetRef":
    "A CloneSet, Deployment, ReplicaSet, Job, or StatefulSet of Kubernetes or OpenKruise in the same " +
    "namespace. It cannot be changed, and may have one WorkloadSpread.",
  "spec.targetRef.apiVersion": "The API version of the workload; only its group matters.",
  "spec.targetRef.kind": "The kind of the workload.",
  "spec.targetRef.name": "The name of the workload.",
  "spec.targetFilter": "Divides only some pods of the workload.",
  ...descriptionsAt("spec.targetFilter.selector", labelSelectorDescriptions),
  "spec.targetFilter.selector": "The labels of the pods to divide.",
  "spec.targetFilter.replicasPathList":
    "Fields of the workload whose sum is the number of pods to divide, such as spec.replicas.",
  "spec.subsets": "The subsets, in the order in which they are filled. Scale-in empties the last one first.",
  "spec.subsets[].name": "The name of the subset. Each is different.",
  "spec.subsets[].requiredNodeSelectorTerm": "The nodes of the subset.",
  ...descriptionsAt("spec.subsets[].requiredNodeSelectorTerm", nodeSelectorTermDescriptions),
  "spec.subsets[].preferredNodeSelectorTerms": "Nodes that its pods prefer.",
  "spec.subsets[].preferredNodeSelectorTerms[].weight": "The weight of the preference, 1 to 100.",
  "spec.subsets[].preferredNodeSelectorTerms[].preference": "Labels of the nodes.",
  ...descriptionsAt("spec.subsets[].preferredNodeSelectorTerms[].preference", nodeSelectorTermDescriptions),
  "spec.subsets[].tolerations": "Added to its pods.",
  ...descriptionsAt("spec.subsets[].tolerations[]", tolerationDescriptions),
  "spec.subsets[].maxReplicas":
    "The pods that the subset takes before the next one is used: a number or a percentage of the workload's " +
    "replicas, the same type in all subsets. Without it the subset takes any number.",
  "spec.subsets[].patch":
    "A strategic merge patch for its pods, such as other resources or a label. Running pods get its metadata only.",
  "spec.scheduleStrategy": "What happens to pods that find no node in their subset.",
  "spec.scheduleStrategy.type":
    "Fixed, the default, leaves them. Adaptive deletes them, so that they are created in the next subset.",
  "spec.scheduleStrategy.adaptive": "Settings of the type Adaptive.",
  "spec.scheduleStrategy.adaptive.disableSimulationSchedule": "Has no effect, as in OpenKruise 1.9.",
  "spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds":
    "How long a pod may wait for a node. 0 leaves it there. With n subsets at most 295/(n-1).",
  status: "The subsets. On the hub, the sums over the members.",
  "status.observedGeneration": "The generation of the spec that the status belongs to.",
  "status.subsetStatuses": "The subsets with all pods of the workload.",
  ...subsetStatus("status.subsetStatuses[]"),
  "status.versionedSubsetStatuses":
    "The subsets by revision of the pods: by pod-template-hash for a Deployment, otherwise versionIgnored.",
  "status.versionedSubsetStatuses.*": "The subsets with the pods of one revision.",
  ...subsetStatus("status.versionedSubsetStatuses.*[]"),
};
