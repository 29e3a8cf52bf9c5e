import { conditionsDescriptions, descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";

export const addOnPlacementScoreDescriptions: FieldDescriptions = {
  "": "Scores of a cluster, by which Placements rank clusters. It is in the namespace of the cluster.",
  status: "The scores. Your own add-on writes them.",
  "status.scores": "The scores of the cluster.",
  "status.scores[].name": "The name of the score, which Placements refer to.",
  "status.scores[].value": "The score, from -100 to 100.",
  "status.validUntil": "The time until which the scores are valid; forever when unset. An expired score counts as 0.",
  "status.conditions": "Conditions that the add-on sets. Placements do not read them.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
};
