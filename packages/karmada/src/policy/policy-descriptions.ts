/** Descriptions of the fields of PropagationPolicy and ClusterPropagationPolicy. */
import { conditionsDescriptions, descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { failoverDescriptions, placementDescriptions } from "../placement/placement-descriptions.ts";
import { resourceSelectorDescriptions } from "../selection/selection-descriptions.ts";

export const policyDescriptions: FieldDescriptions = {
  spec: "The objects that are propagated, where to, and how.",
  "spec.resourceSelectors":
    "The objects that the policy selects; one matching selector is enough. Between policies of the same " +
    "priority a selector with a name wins over one with labels, and that over the kind alone.",
  ...descriptionsAt("spec.resourceSelectors", resourceSelectorDescriptions),
  ...descriptionsAt("spec.placement", placementDescriptions),
  ...descriptionsAt("spec.failover", failoverDescriptions),
  "spec.priority":
    "If several policies select an object, the one with the highest priority claims it. An object keeps its " +
    "policy when a better one is created later, unless that one preempts.",
  "spec.preemption":
    "Always: the policy takes over objects that another policy has claimed: a PropagationPolicy those of a " +
    "ClusterPropagationPolicy, and every policy those of one of its own kind with a lower priority. Every " +
    "selector must then have a name.",
  "spec.activationPreference":
    "Lazy: a change of the policy has no effect on an object until the object itself changes. Unset: policy changes take effect at once.",
  "spec.conflictResolution":
    "What happens if a member already has the object, and the hub did not create it. Abort leaves it " +
    "unchanged and reports the conflict; Overwrite takes it over. An object of a ManifestWork is never " +
    "taken over.",
  "spec.dependentOverrides":
    "Names of override policies that must exist before the objects are propagated: OverridePolicies of the " +
    "namespace, or ClusterOverridePolicies for a ClusterPropagationPolicy.",
  "spec.propagateDeps":
    "Also propagates the ConfigMaps, Secrets, service accounts, claims and other objects that the template " +
    "needs, to the same members. Required for application failover; always on for ServiceImports.",
  "spec.association": "Deprecated and without effect: use propagateDeps.",
  "spec.preserveResourcesOnDeletion":
    "Keeps the copies on members when the template is deleted on the hub. By default they are deleted.",
  "spec.schedulePriority":
    "The order in which bindings that wait for the scheduler are scheduled. It neither reserves capacity nor preempts running workloads.",
  "spec.schedulePriority.priorityClassSource": "KubePriorityClass: a PriorityClass of the hub.",
  "spec.schedulePriority.priorityClassName":
    "The name of the PriorityClass; the highest value is scheduled first. The objects are not propagated until it exists.",
  "spec.schedulerName":
    "The scheduler of the objects, which cannot be changed later. The hub leaves bindings with any other name " +
    "to that scheduler, and does not support failover for them.",
  "spec.suspension":
    "Stops sending changes to members. The copies there stay, still report their status, and drift is not repaired.",
  "spec.suspension.dispatching": "Stops sending changes to all members. Not together with dispatchingOnClusters.",
  "spec.suspension.dispatchingOnClusters": "Stops sending changes to some members.",
  "spec.suspension.dispatchingOnClusters.clusterNames": "The names of these members.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
  "status.problems[].apiVersion": "The API version of the object.",
  "status.problems[].kind": "The kind of the object.",
  "status.problems[].namespace": "The namespace of the object.",
  "status.problems[].name": "The name of the object.",
  "status.problems[].reason": "The kind of problem, in one CamelCase word, such as NoClusterFit.",
  "status.problems[].message": "What is wrong, as a sentence.",
};
