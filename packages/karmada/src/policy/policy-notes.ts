/** Descriptions of the fields of PropagationPolicy and ClusterPropagationPolicy, for their reference pages. */
import { failoverNotes, placementNotes } from "../placement/placement-notes.ts";
import { selectorNotes } from "../selection/selector-notes.ts";

export const policyNotes: Readonly<Record<string, string>> = {
  ...selectorNotes,
  ...placementNotes,
  ...failoverNotes,
  "spec.priority": "The highest priority wins if several policies select an object.",
  "spec.preemption": "`Always` takes over objects claimed by another policy.",
  "spec.activationPreference": "`Lazy`: a change of the policy has no effect until the object changes.",
  "spec.conflictResolution": "`Abort` leaves an existing object of the member alone; `Overwrite` adopts it.",
  "spec.dependentOverrides": "OverridePolicies that must exist before the object is propagated.",
  "spec.propagateDeps": "Also propagates ConfigMaps, Secrets and other dependencies of the object.",
  "spec.association": "Deprecated, and without effect as in Karmada: use `propagateDeps`.",
  "spec.preserveResourcesOnDeletion": "Keeps the copies on members when the template is deleted.",
  "spec.schedulePriority": "The scheduling priority among bindings that wait for the scheduler.",
  "spec.schedulerName": "The scheduler that schedules the binding.",
  "spec.suspension": "Suspends dispatching to all or some members.",
};
