import { conditionsDescriptions, descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";

export const managedClusterSetBindingDescriptions: FieldDescriptions = {
  "": "Lets Placements of this namespace select clusters of a set.",
  spec: "The set.",
  "spec.clusterSet":
    "The name of the set; it must equal the name of the binding. Needs the permission to create managedclustersets/bind.",
  status: "The state of the binding.",
  "status.conditions": "Bound reports whether the set exists.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
};
