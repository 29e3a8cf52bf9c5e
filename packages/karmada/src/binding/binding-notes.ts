/** Descriptions of the fields of ResourceBinding and ClusterResourceBinding, for their reference pages. */
import { failoverNotes, placementNotes } from "../placement/placement-notes.ts";

export const bindingNotes: Readonly<Record<string, string>> = {
  ...placementNotes,
  ...failoverNotes,
  "spec.resource": "The template.",
  "spec.clusters": "The scheduled clusters, and their replicas. Written by the scheduler.",
  "spec.replicas": "The number of replicas to divide.",
  "spec.replicaRequirements": "The resource requirements of one replica, used to estimate how many fit a member.",
  "spec.components": "The same for workloads with several pod templates.",
  "spec.requiredBy": "Templates that depend on this one, and their clusters.",
  "spec.gracefulEvictionTasks": "Evictions in progress.",
  "spec.rescheduleTriggeredAt": "When a user requested rescheduling.",
  "spec.suspension": "Suspends dispatching or scheduling.",
  "status.aggregatedStatus": "The reports of each member: whether the copy was applied, its health, its status.",
  "status.conditions": "Scheduled and FullyApplied; Dispatched once dispatching has failed.",
  "status.schedulerObservingAffinityName": "The entry of `clusterAffinities` in use.",
};
