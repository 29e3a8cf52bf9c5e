/** Descriptions of the selectors that several kinds have: of objects, and of members. */
import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";

/** For a list of resource selectors. */
export const resourceSelectorDescriptions: FieldDescriptions = {
  "[].apiVersion":
    "The API version of the objects, such as apps/v1. Any served version selects the kind in all its versions.",
  "[].kind": "The kind of the objects, such as Deployment.",
  "[].namespace":
    "The namespace of the objects. A namespaced policy selects only objects of its own namespace, which is " +
    "the default. In a cluster-scoped policy an empty namespace selects objects of every namespace.",
  "[].name": "The name of one object. Empty: all objects of the kind, or those that labelSelector selects.",
  "[].labelSelector": "Selects objects by their labels. Ignored if name is set. An invalid selector selects no object.",
  ...descriptionsAt("[].labelSelector", labelSelectorDescriptions),
};

/** For a cluster affinity: every criterion that is set must match. */
export const clusterAffinityDescriptions: FieldDescriptions = {
  clusterNames: "Only the members with these names. Empty: members of every name.",
  exclude: "Members that are never selected, even if the other criteria match.",
  labelSelector:
    "Only members whose Cluster has matching labels. An invalid selector selects no member, and the hub returns a warning.",
  ...descriptionsAt("labelSelector", labelSelectorDescriptions),
  fieldSelector: "Only members whose provider, region or zone matches.",
  "fieldSelector.matchExpressions": "Requirements that must all be met.",
  "fieldSelector.matchExpressions[].key": "The field of the Cluster: provider, region or zone.",
  "fieldSelector.matchExpressions[].operator":
    "In or NotIn. A member without the field never matches In, and always matches NotIn.",
  "fieldSelector.matchExpressions[].values":
    "The values to compare with. A member in several zones matches In if one of its zones is listed, and NotIn if none is.",
};
