import {
  conditionsDescriptions,
  descriptionsAt,
  labelSelectorDescriptions,
  type FieldDescriptions,
} from "@flotilla/apimachinery";

const clusterSelectorDescriptions: FieldDescriptions = {
  labelSelector: "Selects clusters by the labels of their ManagedCluster.",
  ...descriptionsAt("labelSelector", labelSelectorDescriptions),
  claimSelector: "Selects clusters by the claims that they report in status.clusterClaims.",
  "claimSelector.matchExpressions": "Requirements that must all be met.",
  "claimSelector.matchExpressions[].key": "The name of the claim.",
  "claimSelector.matchExpressions[].operator":
    "How the claim relates to the values: In, NotIn, Exists or DoesNotExist.",
  "claimSelector.matchExpressions[].values": "Required for In and NotIn, and empty for Exists and DoesNotExist.",
};

const SCORES = "spec.prioritizerPolicy.configurations[].scoreCoordinate";
const GROUPS = "spec.decisionStrategy.groupStrategy";
const SPREAD = "spec.spreadPolicy.spreadConstraints";

export const placementDescriptions: FieldDescriptions = {
  "": "Selects clusters of the sets that its namespace is bound to, and keeps the selection current.",
  spec: "Which clusters are selected, and how many. An invalid Placement keeps the clusters that it has.",
  "spec.clusterSets":
    "Sets to select from, all bound ones by default. A set without a ManagedClusterSetBinding in the namespace is ignored.",
  "spec.numberOfClusters": "How many clusters to select, all by default. With fewer matching clusters all of them.",
  "spec.predicates": "A cluster must match one of them. Empty: every cluster of the sets matches.",
  "spec.predicates[].requiredClusterSelector": "Labels, claims and expressions that must all match.",
  ...descriptionsAt("spec.predicates[].requiredClusterSelector", clusterSelectorDescriptions),
  "spec.predicates[].requiredClusterSelector.celSelector": "Selects clusters by CEL expressions.",
  "spec.predicates[].requiredClusterSelector.celSelector.celExpressions":
    "Expressions over managedCluster that must all be true. One that does not compile is rejected. At most 100 of 10 KiB each.",

  "spec.prioritizerPolicy": "How clusters are ranked when more match than desired. By default Balance and Steady.",
  "spec.prioritizerPolicy.mode":
    "Additive: configurations are added to Balance and Steady, each with weight 1. Exact: only the configurations count.",
  "spec.prioritizerPolicy.configurations": "Scores of a cluster, multiplied by their weights and summed.",
  "spec.prioritizerPolicy.configurations[].weight":
    "The weight of the score. A negative one prefers low scores, 0 turns the score off.",
  [SCORES]: "Where the score comes from.",
  [`${SCORES}.type`]: "BuiltIn: one of the hub's scores. AddOn: a score of an AddOnPlacementScore.",
  [`${SCORES}.builtIn`]:
    "Balance prefers clusters that few other Placements selected, Steady those that this one selected already, " +
    "ResourceAllocatableCPU and ResourceAllocatableMemory those with more of the resource.",
  [`${SCORES}.addOn`]: "The score of an add-on.",
  [`${SCORES}.addOn.resourceName`]:
    "The name of the AddOnPlacementScore in the namespace of each cluster. A missing or expired one counts as 0.",
  [`${SCORES}.addOn.scoreName`]: "The name of the score in it.",

  "spec.spreadPolicy": "How evenly the selected clusters are spread over labels or claims.",
  [SPREAD]: "The constraints; clusters that meet all of them are selected first.",
  [`${SPREAD}[].topologyKey`]: "The label key or the name of the claim; clusters with the same value form a domain.",
  [`${SPREAD}[].topologyKeyType`]: "Label or Claim: what topologyKey names.",
  [`${SPREAD}[].maxSkew`]: "How many more selected clusters a domain may have than the one with the fewest.",
  [`${SPREAD}[].whenUnsatisfiable`]:
    "ScheduleAnyway selects clusters that violate the constraint, or lack the key, only if no others are left. DoNotSchedule never selects them.",

  "spec.tolerations": "Taints of clusters that are tolerated.",
  "spec.tolerations[].key": "The key of the taint. Empty: every key; the operator must then be Exists.",
  "spec.tolerations[].operator": "Equal compares the value; Exists tolerates every value.",
  "spec.tolerations[].value": "The value of the taint. Must be empty with Exists.",
  "spec.tolerations[].effect": "The effect of the taint. Empty: every effect.",
  "spec.tolerations[].tolerationSeconds":
    "How long the taint is tolerated, in seconds since it was added. Unset: forever.",

  "spec.decisionStrategy": "How the selected clusters are divided into groups, which a rollout follows.",
  [GROUPS]: "The groups.",
  [`${GROUPS}.clustersPerDecisionGroup`]:
    "The largest size of a group: a number, or a percentage of the selected clusters. Larger groups are split.",
  [`${GROUPS}.decisionGroups`]:
    "Named groups, in order; a cluster belongs to the first one that selects it. The others follow in groups without a name.",
  [`${GROUPS}.decisionGroups[].groupName`]:
    "The name of the group, which mandatoryDecisionGroups of a rollout refers to.",
  [`${GROUPS}.decisionGroups[].groupClusterSelector`]: "Selects the clusters of the group, by labels and claims.",
  ...descriptionsAt(`${GROUPS}.decisionGroups[].groupClusterSelector`, clusterSelectorDescriptions),

  "spec.sortBy": "The order of the selected clusters in decisions. With Score, decisions contain the scores.",
  "spec.scoreRateLimit": "How often scores in decisions may change when the selected clusters do not.",

  status: "The selection.",
  "status.numberOfSelectedClusters": "The number of selected clusters.",
  "status.decisionGroups": "The groups, each with the names of its PlacementDecisions.",
  "status.decisionGroups[].decisionGroupIndex": "The position of the group, from 0.",
  "status.decisionGroups[].decisionGroupName": "The name of the group, if it has one.",
  "status.decisionGroups[].decisions": "The names of its PlacementDecisions.",
  "status.decisionGroups[].clusterCount": "The number of its clusters.",
  "status.conditions": "PlacementSatisfied and PlacementMisconfigured.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
  "status.lastScoreUpdateTime": "When scores in decisions last changed.",
};
