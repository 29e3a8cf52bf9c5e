/** Descriptions of the fields of ResourceBinding and ClusterResourceBinding. The hub writes them. */
import {
  conditionsDescriptions,
  descriptionsAt,
  nodeSelectorDescriptions,
  tolerationDescriptions,
  type FieldDescriptions,
} from "@flotilla/apimachinery";
import { failoverDescriptions, placementDescriptions } from "../placement/placement-descriptions.ts";

const requirementsDescriptions: FieldDescriptions = {
  "": "What one replica requires.",
  resourceRequest: "The requests of one replica, by resource. The scheduler divides the room of a member by them.",
  "resourceRequest.*": "The amount, such as 500m or 2Gi.",
  priorityClassName: "The PriorityClass of the pods. The hub's scheduler does not use it.",
  nodeClaim: "The nodes that the pods need. The hub's scheduler does not use it.",
  "nodeClaim.hardNodeAffinity": "The required node affinity of the pods.",
  "nodeClaim.nodeSelector": "The node selector of the pods.",
  ...descriptionsAt("nodeClaim.hardNodeAffinity", nodeSelectorDescriptions),
  "nodeClaim.tolerations": "The tolerations of the pods.",
  ...descriptionsAt("nodeClaim.tolerations[]", tolerationDescriptions),
};

const targetDescriptions: FieldDescriptions = {
  "[].name": "The name of the member.",
  "[].replicas": "The replicas of the member; unset for objects without replicas.",
};

export const bindingDescriptions: FieldDescriptions = {
  spec: "The template, its placement, and the members that have it. The hub writes it from template and policy.",
  "spec.resource": "The template.",
  "spec.resource.apiVersion": "The API version of the template.",
  "spec.resource.kind": "The kind of the template.",
  "spec.resource.namespace": "The namespace of the template.",
  "spec.resource.name": "The name of the template.",
  "spec.resource.uid": "The UID of the template.",
  "spec.resource.resourceVersion": "The resource version of the template that the binding was written for.",
  "spec.resource.replicas": "The replicas of the template; spec.replicas in v1alpha2.",
  "spec.resource.resourcePerReplicas": "The requests of one replica, by resource.",
  "spec.resource.resourcePerReplicas.*": "The amount, such as 500m or 2Gi.",
  "spec.clusters":
    "The members that the scheduler selected, with their replicas. A binding that another scheduler schedules gets them from there.",
  ...descriptionsAt("spec.clusters", targetDescriptions),
  "spec.replicas": "The replicas of the template, which are divided or duplicated over the members.",
  ...descriptionsAt("spec.replicaRequirements", requirementsDescriptions),
  "spec.replicaRequirements.namespace": "The namespace of the pods. The hub's scheduler does not use it.",
  "spec.components":
    "The kinds of pods of a workload with several pod templates. It is scheduled as a whole and never divided. " +
    "Only if the hub runs with --multiple-pod-templates-scheduling.",
  "spec.components[].name": "The name of the component.",
  "spec.components[].replicas": "The replicas of the component.",
  ...descriptionsAt("spec.components[].replicaRequirements", requirementsDescriptions),
  ...descriptionsAt("spec.placement", placementDescriptions),
  ...descriptionsAt("spec.failover", failoverDescriptions),
  "spec.schedulerName": "The scheduler of the binding; the hub's scheduler is default-scheduler.",
  "spec.schedulePriority": "The order in which bindings that wait for the scheduler are scheduled.",
  "spec.schedulePriority.priority": "The value of the PriorityClass of the policy. The highest is scheduled first.",
  "spec.conflictResolution":
    "What happens if a member already has the object, and the hub did not create it: Abort leaves it unchanged, Overwrite takes it over.",
  "spec.propagateDeps": "Whether the objects that the template needs are propagated too.",
  "spec.preserveResourcesOnDeletion": "Keeps the copies on members when the template is deleted on the hub.",
  "spec.requiredBy": "The bindings of templates that need this object. It is propagated to their members as well.",
  "spec.requiredBy[].namespace": "The namespace of the other binding.",
  "spec.requiredBy[].name": "The name of the other binding.",
  "spec.requiredBy[].clusters": "The members of the other binding.",
  ...descriptionsAt("spec.requiredBy[].clusters", targetDescriptions),
  "spec.gracefulEvictionTasks":
    "Members that the object leaves. The scheduler does not select them again while the task exists.",
  "spec.gracefulEvictionTasks[].fromCluster": "The member that the object leaves.",
  "spec.gracefulEvictionTasks[].purgeMode":
    "What happens to the copy there: Gracefully deletes it when the new copy is ready, Directly before the " +
    "new copy is created, Never keeps it. Graciously and Immediately are old names of Gracefully and " +
    "Directly.",
  "spec.gracefulEvictionTasks[].replicas": "The replicas that the member had.",
  "spec.gracefulEvictionTasks[].reason": "Why, in one CamelCase word: ApplicationFailure or TaintUntolerated.",
  "spec.gracefulEvictionTasks[].message": "Why, as a sentence.",
  "spec.gracefulEvictionTasks[].producer": "The component that added the task.",
  "spec.gracefulEvictionTasks[].gracePeriodSeconds":
    "How long the copy waits for the new one, in seconds. Unset: the limit of the hub, ten minutes by default; a copy that is healthy may stay longer.",
  "spec.gracefulEvictionTasks[].suppressDeletion":
    "true keeps the copy and the task until you set it to false, which deletes the copy at once.",
  "spec.gracefulEvictionTasks[].preservedLabelState": "Labels for the new copy, from the status of the old one.",
  "spec.gracefulEvictionTasks[].preservedLabelState.*": "The value of the label.",
  "spec.gracefulEvictionTasks[].creationTimestamp": "When the task was added.",
  "spec.gracefulEvictionTasks[].clustersBeforeFailover": "The members that had the object before.",
  "spec.rescheduleTriggeredAt":
    "When a rebalancing was requested. If this is later than status.lastScheduledTime, the replicas are divided from scratch.",
  "spec.suspension": "Stops the scheduling of the binding, or sending changes to members.",
  "spec.suspension.scheduling": "true stops scheduling. The copies on the members that the binding already has stay.",
  "spec.suspension.dispatching": "Suspends sending changes to all members.",
  "spec.suspension.dispatchingOnClusters": "Suspends sending changes to some members.",
  "spec.suspension.dispatchingOnClusters.clusterNames": "The names of these members.",
  "spec.workloadAffinityGroups": "The groups of the template for placement.workloadAffinity.",
  "spec.workloadAffinityGroups.affinityGroup": "The group whose objects are scheduled together: label=value.",
  "spec.workloadAffinityGroups.antiAffinityGroup": "The group whose objects are scheduled apart: label=value.",

  status: "The result of scheduling, and the status of the copies.",
  "status.conditions":
    "Scheduled and FullyApplied; Dispatched after a copy could not be created, or while pods of a rollout wait for members.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
  "status.aggregatedStatus": "The status of the copy on each member.",
  "status.aggregatedStatus[].clusterName": "The name of the member.",
  "status.aggregatedStatus[].applied": "Whether the copy was applied.",
  "status.aggregatedStatus[].appliedMessage": "Why the copy was not applied.",
  "status.aggregatedStatus[].health": "The health of the copy; Unknown also if its rule failed.",
  "status.aggregatedStatus[].status": "The part of the copy's status that the interpreter of the kind reports.",
  "status.lastScheduledTime": "When the binding was last scheduled successfully.",
  "status.schedulerObservedGeneration": "The generation of the binding that the scheduler has decided for.",
  "status.schedulerObservingAffinityName": "The entry of clusterAffinities in use.",
};
