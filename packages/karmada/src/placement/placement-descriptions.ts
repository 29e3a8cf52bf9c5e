/** Descriptions of placement and failover, which policies and bindings have. */
import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { clusterAffinityDescriptions } from "../selection/selection-descriptions.ts";

const WEIGHTS = "replicaScheduling.weightPreference";

export const placementDescriptions: FieldDescriptions = {
  "": "The members that get the objects, and how many replicas each gets. Unset: every member gets the objects with all replicas.",

  clusterAffinity:
    "Which members are candidates; every criterion that is set must match. Unset: all members. Not together with clusterAffinities.",
  ...descriptionsAt("clusterAffinity", clusterAffinityDescriptions),

  clusterAffinities:
    "Groups of members, in the order in which they are tried: the scheduler uses the first one that can " +
    "take all replicas. A workload that fell back to a later group stays there, unless the policy has the " +
    "annotation flotilla.dev/return-after-seconds.",
  ...descriptionsAt("clusterAffinities[]", clusterAffinityDescriptions),
  "clusterAffinities[].affinityName":
    "The name of the group, unique in the policy. status.schedulerObservingAffinityName of the binding names the group in use.",
  "clusterAffinities[].overflowAffinities":
    "Further groups that get, in order, the replicas for which this group has no room; a scale-down " +
    "removes replicas from the last group first. Only with dynamic weights or Aggregated, and only if this " +
    "group has a criterion of its own.",
  ...descriptionsAt("clusterAffinities[].overflowAffinities[]", clusterAffinityDescriptions),
  "clusterAffinities[].overflowAffinities[].affinityName":
    "The name of the overflow group. It must differ from the names of this group and of its other overflow groups.",

  clusterTolerations:
    "Taints of members that the objects tolerate. A taint that is not tolerated keeps new objects off the " +
    "member; objects that are already there stay, unless failover.cluster moves them.",
  "clusterTolerations[].key": "The key of the taint. Empty: every key.",
  "clusterTolerations[].operator":
    "Exists tolerates every value of the taint; Equal, the default, only the given value. Lt and Gt are rejected.",
  "clusterTolerations[].value": "The value of the taint, for the operator Equal.",
  "clusterTolerations[].effect": "The effect of the taint: NoSchedule or NoExecute. Empty: every effect.",
  "clusterTolerations[].tolerationSeconds":
    "How long a NoExecute taint is tolerated, in seconds since the taint was added. Unset: forever.",

  spreadConstraints:
    "How many clusters, regions, zones, providers or label values the objects are spread over; all " +
    "constraints apply together. Ignored with static weights. With any spreadByField there must be one " +
    "constraint on cluster.",
  "spreadConstraints[].spreadByField":
    "cluster, region, zone or provider, each at most once. Members without the field are excluded. Defaults to cluster if spreadByLabel is not set.",
  "spreadConstraints[].spreadByLabel":
    "The key of a label of Clusters; members with the same value form a group. Members without the label are excluded. Not together with spreadByField.",
  "spreadConstraints[].minGroups":
    "The smallest number of groups to select; 1 by default. With fewer available groups nothing is scheduled, and running copies stay.",
  "spreadConstraints[].maxGroups": "The largest number of groups to select. Unset or 0: no limit.",

  replicaScheduling:
    "How the replicas of a workload are divided over the members. Unset: every member gets all replicas. " +
    "Objects without replicas always go to every selected member.",
  "replicaScheduling.replicaSchedulingType":
    "Duplicated: every member gets all replicas. Divided: the replicas are divided over the members.",
  "replicaScheduling.replicaDivisionPreference":
    "For Divided. Weighted, the default, divides by weights; Aggregated uses as few members as have room.",
  [WEIGHTS]: "The weights for Weighted. Unset: all members have the same weight, and spreadConstraints are ignored.",
  [`${WEIGHTS}.dynamicWeight`]:
    "AvailableReplicas: the weight of a member is the number of replicas that it has room for. Takes " +
    "precedence over staticWeightList. Replicas stay where they are as far as possible while the workload " +
    "is scaled.",
  [`${WEIGHTS}.staticWeightList`]:
    "Fixed weights. They ignore spreadConstraints and the room of members. A member without a weight gets no " +
    "replicas; if no member has one, all have the same.",
  [`${WEIGHTS}.staticWeightList[].targetCluster`]:
    "The members with this weight. If several entries match a member, the largest weight counts.",
  ...descriptionsAt(`${WEIGHTS}.staticWeightList[].targetCluster`, clusterAffinityDescriptions),
  [`${WEIGHTS}.staticWeightList[].weight`]:
    "The weight of each of these members: with weight 2 a member gets twice as many replicas as with weight 1.",

  workloadAffinity:
    "Schedules the objects of one namespace together or apart, by a label of their templates. It applies when " +
    "an object is placed: objects that already run are not moved.",
  "workloadAffinity.affinity":
    "Schedules an object only to members that all other objects of its group have. Its label must differ from that of antiAffinity.",
  "workloadAffinity.affinity.groupByLabelKey":
    "The key of a label of the template. Objects with the same value form a group; objects without the label are in no group.",
  "workloadAffinity.antiAffinity":
    "Schedules an object only to members that no other object of its group has. Its label must differ from that of affinity.",
  "workloadAffinity.antiAffinity.groupByLabelKey":
    "The key of a label of the template. Objects with the same value form a group; objects without the label are in no group.",
};

const statePreservationDescriptions: FieldDescriptions = {
  "":
    "Values of the old copy's status that the new copy gets as labels. Only with the purge mode Directly, " +
    "and only if the workload moves as a whole from one member to another. The workload stays while a value " +
    "cannot be read.",
  rules: "The values; each one becomes a label.",
  "rules[].aliasLabelName": "The key of the label.",
  "rules[].jsonPath":
    "The path of the value in the status of the old copy, as in kubectl -o jsonpath. The value must be a valid label value.",
};

export const failoverDescriptions: FieldDescriptions = {
  "":
    "When workloads are moved away from a member. Unset: only flotilla drain moves them, and NoExecute taints if " +
    "the hub runs with --enable-no-execute-taint-eviction.",
  application:
    "Moves a workload away from a member where it is unhealthy for too long. Requires propagateDeps. Each " +
    "move of a workload that keeps failing waits twice as long as the one before, up to six hours.",
  "application.decisionConditions": "When the workload counts as failed.",
  "application.decisionConditions.tolerationSeconds":
    "How long the workload may be unhealthy on a member, in seconds. Unknown health neither starts nor ends this time.",
  "application.purgeMode":
    "What happens to the old copy. Gracefully: it is deleted when the new copy is ready, or after the " +
    "grace period. Directly: it is deleted before the new copy is created. Never: it stays until " +
    "suppressDeletion of the task in the binding is set to false. Graciously and Immediately are old names " +
    "of Gracefully and Directly.",
  "application.gracePeriodSeconds":
    "For Gracefully: how long the old copy waits for the new one, in seconds; 600 by default. Rejected with another purge mode.",
  ...descriptionsAt("application.statePreservation", statePreservationDescriptions),
  cluster:
    "Moves workloads away from a member with a NoExecute taint that clusterTolerations does not tolerate. " +
    "Without it such a taint only keeps new workloads off the member.",
  "cluster.purgeMode":
    "What happens to the old copy. Gracefully: it is deleted when the new copy is ready; after ten minutes " +
    "also if it is unhealthy itself, or if the new copy is healthy with fewer replicas ready. Directly: it " +
    "is deleted before the new copy is created, even if no other member fits.",
  ...descriptionsAt("cluster.statePreservation", statePreservationDescriptions),
};
