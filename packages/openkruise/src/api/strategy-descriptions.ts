/** Descriptions of types that several of OpenKruise's workloads have. */
import {
  conditionsDescriptions,
  descriptionsAt,
  labelSelectorDescriptions,
  type FieldDescriptions,
} from "@flotilla/apimachinery";

const hookDescriptions: FieldDescriptions = {
  labelsHandler: "Labels of the pod that are part of the hook.",
  "labelsHandler.*": "The value that the label must have.",
  finalizersHandler: "Finalizers of the pod that are part of the hook.",
  markPodNotReady: "true makes the pod not ready while it waits, so that it gets no traffic.",
};

export const lifecycleDescriptions: FieldDescriptions = {
  "":
    "Hooks: labels or finalizers with which another controller, which must run on every member, holds a pod " +
    "before a step of its life. The pod label lifecycle.apps.kruise.io/state shows the step; a pod that " +
    "waits is not available.",
  preDelete: "A pod with any of these is not deleted until they are removed from it.",
  ...descriptionsAt("preDelete", hookDescriptions),
  inPlaceUpdate:
    "A pod with any of these is not updated in place until they are removed. After the update it is not available until they are all set again.",
  ...descriptionsAt("inPlaceUpdate", hookDescriptions),
  preNormal: "A new pod is not available until it has all of these.",
  ...descriptionsAt("preNormal", hookDescriptions),
  "preNormal.markPodNotReady": "Has no effect for this hook.",
};

export const priorityDescriptions: FieldDescriptions = {
  "": "Which pods are updated first, by their labels. Set one of the two lists. Each member orders its own pods.",
  weightPriority: "Weights of matching pods, which are summed; the highest sum is updated first.",
  "weightPriority[].weight": "The weight, from 0 to 100.",
  "weightPriority[].matchSelector": "Selects the pods with this weight by their labels.",
  ...descriptionsAt("weightPriority[].matchSelector", labelSelectorDescriptions),
  orderPriority:
    "Label keys, by which pods are ordered. Pods without any of the keys come first, then those with the first key.",
  "orderPriority[].orderedKey":
    "The label key. Of the pods with this label, the one whose value ends in the largest number comes first.",
};

/** For a list of labels. */
export const scatterDescriptions: FieldDescriptions = {
  "": "Labels whose pods are spread over the whole update instead of being updated one after the other. Each member orders its own pods.",
  "[].key": "The label key.",
  "[].value": "The label value.",
};

export const inPlaceUpdateDescriptions: FieldDescriptions = {
  "": "How pods are updated in place.",
  gracePeriodSeconds:
    "How long a pod is not ready before its containers are replaced, in seconds, so that it gets no more traffic. 0 by default.",
};

const { "[].observedGeneration": _generation, ...ownConditions } = conditionsDescriptions;
/** For a list of conditions. OpenKruise's have no generation. */
export const kruiseConditionsDescriptions: FieldDescriptions = ownConditions;

export const SELECTOR =
  "Selects the pods of the workload. It must match the labels of the template, and cannot be changed. On the " +
  "hub it may be omitted: then the labels of the template are used.";
export const HISTORY = "How many old revisions are kept; 10 by default.";
export const TEMPLATE = "The pod template. It has the fields of a Kubernetes pod template.";
export const UPDATE_POLICY =
  "ReCreate deletes and creates pods. InPlaceIfPossible changes running pods if only images or metadata " +
  "changed, and recreates them otherwise. InPlaceOnly rejects other changes.";
export const REPLICAS =
  "The number of pods; 1 by default. A policy with Divided scheduling divides it over the members; otherwise every member runs as many.";
/** A number of a kind whose pods the hub counts. */
export const COUNTS_FLEET =
  "If a policy divides the replicas, it counts the pods of the fleet and is divided over the members; " +
  "otherwise, or with the annotation flotilla.dev/partition-scope: cluster, it applies to each member.";
/** A budget of such a kind. */
export const BUDGET_OF_FLEET =
  "A number, or a percentage. If a policy divides the replicas, the budget is divided over the members as well, with at least 1 for each.";
/** A budget of a kind whose pods only the members count. */
export const BUDGET_OF_MEMBERS =
  "A number above 1 is divided evenly over the members, with at least 1 for each; a percentage applies to each member's own pods.";
