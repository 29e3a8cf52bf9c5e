import {
  conditionsDescriptions,
  descriptionsAt,
  labelSelectorDescriptions,
  type FieldDescriptions,
} from "@flotilla/apimachinery";

export const managedClusterSetDescriptions: FieldDescriptions = {
  "": "A group of clusters.",
  spec: "The clusters of the set, and what they get.",
  "spec.clusterSelector": "Selects the clusters of the set.",
  "spec.clusterSelector.selectorType":
    "ExclusiveClusterSetLabel: clusters whose label cluster.open-cluster-management.io/clusterset is the " +
    "name of the set, so that a cluster is in one such set. LabelSelector: clusters that labelSelector " +
    "selects.",
  "spec.clusterSelector.labelSelector": "Selects clusters by their labels, for the type LabelSelector.",
  ...descriptionsAt("spec.clusterSelector.labelSelector", labelSelectorDescriptions),
  "spec.managedNamespaces":
    "Namespaces to create on every cluster of the set. An existing namespace is only labelled, and none is ever deleted.",
  "spec.managedNamespaces[].name": "The name of the namespace.",
  status: "The state of the set.",
  "status.conditions": "ClusterSetEmpty reports whether the set has no clusters.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
};
