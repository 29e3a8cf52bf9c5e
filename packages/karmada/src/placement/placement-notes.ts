/** Descriptions of placement and failover in policies and bindings, for their reference pages. */
import { affinityNotes } from "../selection/selector-notes.ts";

export const placementNotes: Readonly<Record<string, string>> = {
  "spec.placement": "The clusters to propagate to. Defaults to every member.",
  "spec.placement.clusterAffinity": "Selects candidate members; defaults to all.",
  ...affinityNotes("spec.placement.clusterAffinity"),
  "spec.placement.clusterAffinities":
    "Groups of members in the order in which they are tried; the first that can take all replicas is used.",
  "spec.placement.clusterAffinities[].overflowAffinities":
    "Members that take the replicas for which the group has no room.",
  "spec.placement.clusterTolerations": "Tolerated taints of members.",
  "spec.placement.spreadConstraints":
    "The minimum and maximum number of clusters, regions, zones, providers or label values to spread over.",
  "spec.placement.spreadConstraints[].minGroups": "1 unless given.",
  "spec.placement.spreadConstraints[].maxGroups": "No limit by default.",
  "spec.placement.replicaScheduling": "How replicas are divided. By default every member gets all of them.",
  "spec.placement.replicaScheduling.replicaSchedulingType":
    "`Duplicated`: every member gets all replicas. `Divided`: the replicas are divided over the members.",
  "spec.placement.replicaScheduling.replicaDivisionPreference":
    "`Weighted`: by weights. `Aggregated`: on as few members as possible.",
  "spec.placement.replicaScheduling.weightPreference":
    "Static weights for members, or `dynamicWeight: AvailableReplicas`, by the members' available replicas. By default all weights are equal.",
  "spec.placement.workloadAffinity": "Schedules together with, or apart from, templates with the same label value.",
};

export const failoverNotes: Readonly<Record<string, string>> = {
  "spec.failover": "When workloads are evicted from a member. By default never.",
  "spec.failover.application": "Evicts a workload that is unhealthy for too long.",
  "spec.failover.application.decisionConditions": "How long it may be unhealthy.",
  "spec.failover.application.gracePeriodSeconds": "How long the old copy waits for the new one.",
  "spec.failover.application.purgeMode":
    "What happens to the old copy: it is deleted when the new one is healthy, deleted at once, or kept.",
  "spec.failover.application.statePreservation": "Values of the old copy's status that the new copy gets as labels.",
  "spec.failover.cluster": "Evicts workloads from a member with a NoExecute taint that is not tolerated.",
};
