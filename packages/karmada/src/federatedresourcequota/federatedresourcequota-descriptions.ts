import type { FieldDescriptions } from "@flotilla/apimachinery";

export const federatedResourceQuotaDescriptions: FieldDescriptions = {
  "": "Limits what the workloads of a namespace request on all members together.",
  spec: "The limits.",
  "spec.overall":
    "The limit for all members together, by resource: cpu, memory and what else pods request. A placement " +
    "whose requests would exceed it is rejected with QuotaExceeded.",
  "spec.overall.*": "The amount.",
  "spec.staticAssignments":
    "Parts of the limit for single members. Each becomes a ResourceQuota of the same name in the namespace of the member.",
  "spec.staticAssignments[].clusterName": "The name of the member.",
  "spec.staticAssignments[].hard":
    "The limits on the member. All resources must be in overall, and their sums within it.",
  "spec.staticAssignments[].hard.*": "The amount.",
  status: "What is in use.",
  "status.overall": "The limits that the status reflects.",
  "status.overall.*": "The amount.",
  "status.overallUsed":
    "What the placed replicas of the namespace request: requests of a replica times the replicas in spec.clusters of the bindings.",
  "status.overallUsed.*": "The amount.",
  "status.aggregatedStatus": "The ResourceQuotas of the static assignments, as the members report them.",
  "status.aggregatedStatus[].clusterName": "The name of the member.",
  "status.aggregatedStatus[].hard": "The limits on the member.",
  "status.aggregatedStatus[].hard.*": "The amount.",
  "status.aggregatedStatus[].used": "What is in use on the member.",
  "status.aggregatedStatus[].used.*": "The amount.",
};
