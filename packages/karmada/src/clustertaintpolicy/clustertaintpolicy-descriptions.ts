import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { clusterAffinityDescriptions } from "../selection/selection-descriptions.ts";

const conditionDescriptions: FieldDescriptions = {
  "[].conditionType": "The type of a condition of the Cluster, such as Ready. If a Cluster lacks it, nothing matches.",
  "[].operator": "In: the condition has one of the values. NotIn: it has another one.",
  "[].statusValues": "True, False or Unknown.",
};

export const clusterTaintPolicyDescriptions: FieldDescriptions = {
  "": "Adds and removes taints of members by the conditions of their Clusters.",
  spec: "The members, the conditions and the taints.",
  "spec.targetClusters": "The members that the policy applies to. Unset: all members.",
  ...descriptionsAt("spec.targetClusters", clusterAffinityDescriptions),
  "spec.addOnConditions": "The taints are added when all of these match. Empty: never.",
  ...descriptionsAt("spec.addOnConditions", conditionDescriptions),
  "spec.removeOnConditions":
    "The taints are removed when all of these match. Empty: never; deleting the policy does not remove them either.",
  ...descriptionsAt("spec.removeOnConditions", conditionDescriptions),
  "spec.taints": "The taints, each key and effect once.",
  "spec.taints[].key": "The key of the taint.",
  "spec.taints[].value": "The value of the taint.",
  "spec.taints[].effect":
    "NoSchedule, or NoExecute, which is rejected unless the hub runs with --allow-no-execute-taint-policy.",
};
