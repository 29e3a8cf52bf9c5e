import { descriptionsAt, labelSelectorDescriptions, type FieldDescriptions } from "@flotilla/apimachinery";

export const resourceDistributionDescriptions: FieldDescriptions = {
  "": "Copies a Secret or ConfigMap to namespaces. Needs OpenKruise's feature gate ResourceDistributionGate on the member.",
  spec: "The resource, and the namespaces that get a copy.",
  "spec.resource": "The Secret or ConfigMap to copy, as a manifest. Its apiVersion, kind and name cannot be changed.",
  "spec.targets": "The namespaces that get a copy. Each member looks at its own namespaces.",
  "spec.targets.allNamespaces":
    "true selects every namespace, kube-system too. includedNamespaces and namespaceLabelSelector are ignored then.",
  "spec.targets.includedNamespaces": "Namespaces that get a copy, in addition to those of namespaceLabelSelector.",
  "spec.targets.includedNamespaces.list": "The namespaces.",
  "spec.targets.includedNamespaces.list[].name": "The name of a namespace.",
  "spec.targets.excludedNamespaces": "Namespaces that get no copy, even if they are selected.",
  "spec.targets.excludedNamespaces.list": "The namespaces. None may be in includedNamespaces.",
  "spec.targets.excludedNamespaces.list[].name": "The name of a namespace.",
  ...descriptionsAt("spec.targets.namespaceLabelSelector", labelSelectorDescriptions),
  "spec.targets.namespaceLabelSelector": "Selects namespaces by their labels. An empty selector selects none.",
  status: "The observed state; on the hub, summed over the members.",
  "status.desired": "Namespaces that should have a copy.",
  "status.succeeded": "Namespaces that have the current copy.",
  "status.failed": "Namespaces that do not.",
  "status.observedGeneration": "The generation of the spec that the status belongs to.",
  "status.conditions":
    "One condition for each reason of a failure: GetResourceFailed, CreateResourceFailed, " +
    "UpdateResourceFailed, DeleteResourceFailed, ConflictOccurred, NamespaceNotExists. True means that it " +
    "occurred.",
  "status.conditions[].type": "The reason of a failure.",
  "status.conditions[].status": "True if a namespace failed for this reason, otherwise False.",
  "status.conditions[].lastTransitionTime": "When the status changed last.",
  "status.conditions[].reason": "The last error, or Succeeded.",
  "status.conditions[].failedNamespace": "The namespaces that failed for this reason.",
};
