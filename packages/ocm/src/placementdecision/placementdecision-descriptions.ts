import type { FieldDescriptions } from "@flotilla/apimachinery";

export const placementDecisionDescriptions: FieldDescriptions = {
  "": "Clusters that a Placement selected, at most a hundred per object. Its labels name the Placement and the group.",
  status: "The clusters. The hub writes them.",
  "status.decisions": "The clusters, in the order of sortBy of the Placement.",
  "status.decisions[].clusterName": "The name of the ManagedCluster.",
  "status.decisions[].reason": "Why the cluster was selected; empty here.",
  "status.decisions[].score": "The score of the cluster, if the Placement is sorted by score.",
};
