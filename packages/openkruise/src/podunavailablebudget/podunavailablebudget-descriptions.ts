import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";

export const podUnavailableBudgetDescriptions: FieldDescriptions = {
  "": "How many pods of an application may be unavailable for any reason, including updates.",
  spec: "The pods, and the budget.",
  "spec.selector":
    "Selects the pods by their labels. Either selector or targetRef; neither can be changed, and two budgets must not select the same pods.",
  ...descriptionsAt("spec.selector", labelSelectorDescriptions),
  "spec.targetRef": "The workload in the namespace whose pods are protected.",
  "spec.targetRef.apiVersion": "The API version of the workload.",
  "spec.targetRef.kind": "The kind of the workload.",
  "spec.targetRef.name": "The name of the workload.",
  "spec.maxUnavailable":
    "The largest number of unavailable pods: a number, or a percentage. Either maxUnavailable or minAvailable. " +
    "It is not divided: every member gets it, and applies it to its own pods.",
  "spec.minAvailable":
    "The smallest number of available pods: a number, or a percentage. Either maxUnavailable or minAvailable. " +
    "It is not divided: every member gets it, and applies it to its own pods.",
  "spec.protectOperations":
    "The operations that are rejected when the budget is used up: DELETE, EVICT, UPDATE and RESIZE. The " +
    "first three by default. Members reject updates only with OpenKruise's gate " +
    "PodUnavailableBudgetUpdateGate, which is off by default.",
  "spec.protectTotalReplicas":
    "The number of pods of which percentages and maxUnavailable are counted. Unset: the replicas of the workloads.",
  "spec.ignoredPodSelector": "Selects pods that are not protected, although selector or targetRef selects them.",
  ...descriptionsAt("spec.ignoredPodSelector", labelSelectorDescriptions),

  status: "The observed state; on the hub, summed over the members.",
  "status.unavailableAllowed": "How many more pods may become unavailable.",
  "status.currentAvailable": "Pods that are available.",
  "status.desiredAvailable": "Pods that must be available.",
  "status.totalReplicas": "The number of pods that the budget counts.",
  "status.disruptedPods": "Pods whose deletion was allowed a moment ago, with the time.",
  "status.unavailablePods": "Pods whose update was allowed a moment ago, with the time.",
  "status.observedGeneration": "The generation that the status reflects.",
};
