/** Descriptions of the fields of OverridePolicy and ClusterOverridePolicy. */
import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { clusterAffinityDescriptions, resourceSelectorDescriptions } from "../selection/selection-descriptions.ts";

const labelDescriptions = (entries: "labels" | "annotations"): FieldDescriptions => ({
  "": `Changes ${entries} of the object itself, not of its pod template.`,
  "[].operator": `add sets ${entries}; replace and remove change only ${entries} that the object has.`,
  "[].value": `The ${entries}. For remove only the keys matter.`,
});

const listDescriptions = (list: string, element: string): FieldDescriptions => ({
  "": `Changes the ${list} of containers of Pods, ReplicaSets, Deployments, DaemonSets, StatefulSets and Jobs. Ignored for other kinds.`,
  "[].containerName": "The name of the container. If the object has no such container, nothing changes.",
  "[].operator": `add appends the ${element}s; remove removes every ${element} that is listed.`,
  "[].value": `The ${element}s to add or to remove.`,
});

const documentDescriptions: FieldDescriptions = {
  "[].subPath": "A JSON pointer inside the document, such as /log/level.",
  "[].operator": "add sets a value, replace changes an existing one, remove removes an existing one.",
  "[].value": "The new value. Required for add and replace, not allowed for remove.",
};

const overriderDescriptions: FieldDescriptions = {
  "":
    "The changes to the copy, in this order: images, commands, arguments, labels, annotations, fields, " +
    "plaintext. They are applied after replicas are divided, and win over the division. If a change fails, " +
    "the member keeps its current copy, and the condition Dispatched of the binding reports it.",
  ...descriptionsAt("imageOverrider", {
    "":
      "Changes images of the containers, but not of the init containers, of Pods, ReplicaSets, Deployments, " +
      "DaemonSets, StatefulSets and Jobs. For other kinds, such as CloneSet, set predicate.",
    "[].component": "The part of the image: Registry, Repository, or Tag, which also stands for a digest.",
    "[].operator": "add appends the value to the part, replace replaces the part, remove removes it.",
    "[].value": "The text to append, or the new part. Not used by remove.",
    "[].predicate": "Selects one image by its path. Unset: the images of all containers.",
    "[].predicate.path":
      "The JSON pointer of the image, such as /spec/template/spec/containers/0/image. It must exist in the object.",
  }),
  ...descriptionsAt("commandOverrider", listDescriptions("command", "element")),
  ...descriptionsAt("argsOverrider", listDescriptions("arguments", "argument")),
  ...descriptionsAt("labelsOverrider", labelDescriptions("labels")),
  ...descriptionsAt("annotationsOverrider", labelDescriptions("annotations")),
  ...descriptionsAt("fieldOverrider", {
    "":
      "Changes values in a JSON or YAML document inside a string field, such as a file in a ConfigMap. The " +
      "document is parsed and written again, so comments are lost.",
    "[].fieldPath": "The JSON pointer of the string field, such as /data/config.yaml. It must exist.",
    "[].json": "Changes of a JSON document, in order. Set either json or yaml.",
    ...descriptionsAt("[].json", documentDescriptions),
    "[].yaml": "Changes of a YAML 1.1 document, in order. Set either json or yaml.",
    ...descriptionsAt("[].yaml", documentDescriptions),
  }),
  ...descriptionsAt("plaintext", {
    "": "Changes of any field of the object, in order.",
    "[].path": "The JSON pointer of the field, such as /spec/minReadySeconds.",
    "[].operator":
      "add sets a field, or inserts into a list; its parent must exist. replace and remove fail if the field does not exist.",
    "[].value": "The new value, of any type. Not used by remove.",
  }),
};

export const overrideDescriptions: FieldDescriptions = {
  spec: "The objects whose copies are changed, and the changes for each member.",
  "spec.resourceSelectors":
    "The objects whose copies are changed. Unset: every object in the scope of the policy. Policies with a " +
    "less specific selector are applied first, then by name.",
  ...descriptionsAt("spec.resourceSelectors", resourceSelectorDescriptions),
  "spec.overrideRules":
    "The changes for some members. All rules that target a member apply to its copy, in order. ClusterOverridePolicies are applied before OverridePolicies.",
  "spec.overrideRules[].targetCluster": "The members whose copies the rule changes. Unset: all members.",
  ...descriptionsAt("spec.overrideRules[].targetCluster", clusterAffinityDescriptions),
  ...descriptionsAt("spec.overrideRules[].overriders", overriderDescriptions),
  ...descriptionsAt("spec.targetCluster", clusterAffinityDescriptions),
  "spec.targetCluster": "Deprecated: use overrideRules. Not together with overrideRules.",
  ...descriptionsAt("spec.overriders", overriderDescriptions),
  "spec.overriders": "Deprecated: use overrideRules. Not together with overrideRules.",
};
