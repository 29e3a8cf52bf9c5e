/**
 * The pipeline: from a user's apply to pods on members, and status back. Start reading here.
 *
 * Stages never call each other. They communicate through API objects: each reads what earlier stages wrote, and every
 * field has one writer. `test/simulation/pipeline-writers.test.ts` checks this table against a running fleet. ResourceBinding also represents
 * ClusterResourceBinding, and PropagationPolicy ClusterPropagationPolicy: the stages run for both scopes.
 */
import { APPLIED_PLACEMENT, DEPENDED_BY_PREFIX, DEPENDENCIES } from "@flotilla/karmada";

export interface Stage {
  /** Also the folder under `propagation`. */
  name: string;
  does: string;
  reads: readonly string[];
  /** `Kind.path`, where `template` is the object that the user applied and `member` its copies. */
  writes: readonly string[];
}

export const pipeline: readonly Stage[] = [
  {
    name: "match",
    does: "finds the policy for a template and maintains their binding",
    reads: ["template", "PropagationPolicy", "OverridePolicy", "PriorityClass"],
    writes: [
      "template.metadata.labels[propagationpolicy.karmada.io]",
      "template.metadata.annotations[propagationpolicy.karmada.io]",
      "template.metadata.annotations[flotilla.dev/activated-template]",
      "ResourceBinding.metadata.labels[propagationpolicy.karmada.io]",
      "ResourceBinding.metadata.annotations[propagationpolicy.karmada.io]",
      "ResourceBinding.metadata.labels[resourcebinding.karmada.io/permanent-id]",
      "ResourceBinding.metadata.annotations[flotilla.dev/named-pods]",
      "ResourceBinding.metadata.annotations[flotilla.dev/return-after-seconds]",
      "ResourceBinding.metadata.annotations[flotilla.dev/drift]",
      "ResourceBinding.metadata.annotations[flotilla.dev/rerun-jobs]",
      "ResourceBinding.metadata.annotations[flotilla.dev/activated-template]",
      "ResourceBinding.metadata.ownerReferences",
      "ResourceBinding.metadata.finalizers",
      "ResourceBinding.spec.resource",
      "ResourceBinding.spec.replicas",
      "ResourceBinding.spec.replicaRequirements",
      "ResourceBinding.spec.components",
      "ResourceBinding.spec.placement",
      "ResourceBinding.spec.schedulerName",
      "ResourceBinding.spec.conflictResolution",
      "ResourceBinding.spec.propagateDeps",
      "ResourceBinding.spec.failover",
      "ResourceBinding.spec.suspension.dispatching",
      "ResourceBinding.spec.suspension.dispatchingOnClusters",
      "ResourceBinding.spec.preserveResourcesOnDeletion",
      "ResourceBinding.spec.schedulePriority",
      "ResourceBinding.spec.workloadAffinityGroups",
      "PropagationPolicy.status",
    ],
  },
  {
    name: "schedule",
    does: "chooses member clusters and divides the replicas",
    reads: ["ResourceBinding.spec", "Cluster"],
    writes: [
      "ResourceBinding.spec.clusters",
      "ResourceBinding.spec.gracefulEvictionTasks[Scheduler]",
      `ResourceBinding.metadata.annotations[${APPLIED_PLACEMENT}]`,
      "ResourceBinding.status.conditions[Scheduled]",
      "ResourceBinding.status.schedulerObservedGeneration",
      "ResourceBinding.status.schedulerObservingAffinityName",
      "ResourceBinding.status.lastScheduledTime",
    ],
  },
  {
    // Eviction tasks are a list: each producer adds its own, and only `eviction` ends them.
    name: "failover",
    does: "evicts a resource from a member on which it stays unhealthy, or whose taints it does not tolerate",
    reads: ["ResourceBinding", "Cluster"],
    writes: [
      "ResourceBinding.spec.gracefulEvictionTasks[ApplicationFailover]",
      "ResourceBinding.spec.gracefulEvictionTasks[TaintManager]",
      "ResourceBinding.metadata.annotations[flotilla.dev/unhealthy-since]",
    ],
  },
  {
    name: "eviction",
    does: "ends an eviction once the resource is healthy on its new clusters",
    reads: ["ResourceBinding"],
    writes: [
      "ResourceBinding.spec.gracefulEvictionTasks[ended]",
      "ResourceBinding.metadata.annotations[flotilla.dev/moves]",
    ],
  },
  {
    // Dependencies of a resource, such as a ConfigMap, have a binding too; if no policy propagates them as well, they
    // are `attached`.
    name: "dependencies",
    does: "propagates the dependencies of a resource to its clusters",
    reads: ["ResourceBinding", "template"],
    writes: [
      `ResourceBinding.metadata.annotations[${DEPENDENCIES}]`,
      "ResourceBinding.metadata.annotations[flotilla.dev/unmanaged]",
      "ResourceBinding.metadata.annotations[flotilla.dev/unmanaged-for]",
      `ResourceBinding.metadata.labels[${DEPENDED_BY_PREFIX.slice(0, -1)}]`,
      "ResourceBinding.spec.requiredBy",
      "attached",
    ],
  },
  {
    name: "rebalance",
    does: "reschedules resources for a WorkloadRebalancer",
    reads: ["WorkloadRebalancer", "ResourceBinding"],
    writes: ["ResourceBinding.spec.rescheduleTriggeredAt", "WorkloadRebalancer.status"],
  },
  {
    // It has no object of its own to write, so dispatch is its controller: `override/changes.ts` finds the affected
    // bindings, `override/renderer.ts` collects the policies, `override/plan-overrides.ts` decides.
    name: "override",
    does: "changes a member's copy according to override policies",
    reads: ["OverridePolicy", "ClusterOverridePolicy", "Cluster"],
    writes: [],
  },
  {
    name: "dispatch",
    does: "creates one Work per target cluster, with that member's copy",
    // During a release, the FleetRollout says which revision each member gets (`flotilla/rollout`).
    reads: ["ResourceBinding", "template", "override"],
    writes: [
      "Work.metadata",
      "Work.spec",
      "ResourceBinding.status.conditions[Dispatched]",
      "ResourceBinding.metadata.annotations[flotilla.dev/job-record]",
      "ResourceBinding.status.conditions[MemberDecides]",
      "ResourceBinding.status.conditions[PodsFound]",
      "ResourceBinding.status.conditions[PodsRolledBack]",
      "ResourceBinding.status.conditions[DividedOverFleet]",
      "ResourceBinding.status.conditions[TemplateFound]",
      "ResourceBinding.status.conditions[TemplateActive]",
    ],
  },
  {
    name: "execute",
    does: "applies a Work's manifests on its member, and repairs drift",
    reads: ["Work.spec", "member"],
    writes: [
      "member",
      "Work.status.conditions[Applied]",
      "Work.status.conditions[Dispatching]",
      "Work.status.conditions[Drifted]",
      "Work.status.conditions[Managed]",
      "Work.status.conditions[ReplicasLeft]",
      "Work.status.conditions[ReleaseLeft]",
    ],
  },
  {
    name: "reflect",
    does: "collects the status of a member's objects into the Work",
    reads: ["Work.spec", "member.status"],
    writes: [
      "Work.status.manifestStatuses",
      "Work.status.conditions[Healthy]",
      "Work.status.conditions[Interpreted]",
      "Work.status.conditions[ReleaseObserved]",
    ],
  },
  {
    name: "aggregate",
    does: "aggregates the members' statuses onto the binding and the template",
    reads: ["ResourceBinding", "Work.status", "template", "Cluster"],
    writes: [
      "ResourceBinding.status.aggregatedStatus",
      "ResourceBinding.status.conditions[FullyApplied]",
      "ResourceBinding.status.conditions[Stale]",
      "ResourceBinding.status.conditions[Released]",
      "ResourceBinding.status.conditions[Healthy]",
      "ResourceBinding.status.conditions[StatusComplete]",
      "template.status",
    ],
  },
  {
    name: "expiry",
    does: "deletes a template that has finished on its members, after its time to live",
    reads: ["ResourceBinding", "Work", "template"],
    writes: [],
  },
];

/**
 * The other parts of the hub that write objects of the pipeline, or a field that a second part writes as well. The same
 * test checks these rows.
 */
export const otherWriters: readonly { part: string; writes: readonly string[]; reason: string }[] = [
  {
    part: "namespaces",
    writes: ["Work.metadata", "Work.spec"],
    reason: "has Works of its own: one for each namespace and member",
  },
  {
    part: "quota",
    writes: ["Work.metadata", "Work.spec"],
    reason: "has Works of its own: one for each static assignment of a FederatedResourceQuota",
  },
  {
    part: "quota",
    writes: ["FederatedResourceQuota.status"],
    reason: "counts the bindings, and releases what they give back; both writers use compare-and-set",
  },
  {
    part: "admission",
    writes: ["FederatedResourceQuota.status"],
    reason: "reserves what a placement adds to `overallUsed` before the binding is stored",
  },
  {
    part: "autoscaling",
    writes: ["template.spec.replicas"],
    reason: "scales a template as a user does, through `/scale`; the user leaves the field to the FederatedHPA",
  },
  {
    part: "system",
    writes: ["Work.metadata.finalizers"],
    reason: "the controller manager removes the finalizer of `execute` after the objects on the member were deleted",
  },
  {
    part: "system",
    writes: ["Cluster.spec.taints", "Cluster.status"],
    reason: "a join creates the Cluster with its first status and its taints",
  },
  { part: "membership", writes: ["Cluster.status"], reason: "reports the health of a joined member" },
  {
    part: "lifecycle",
    writes: ["Cluster.spec.taints"],
    reason: "maintains the taints of the conditions; each taint has one writer",
  },
  { part: "apis", writes: ["ManagedCluster.spec.taints"], reason: "copies the taints of the paired Cluster" },
  {
    part: "registration",
    writes: ["ManagedCluster.spec.taints"],
    reason: "maintains OCM's own taints for unavailable members",
  },
  {
    part: "system",
    writes: ["Namespace.metadata", "Namespace.spec", "Namespace.status"],
    reason: "creates the namespace of a member's Works; the fields are the API server's defaults",
  },
  {
    part: "registration",
    writes: ["Namespace.metadata", "Namespace.spec", "Namespace.status"],
    reason: "creates the namespace of a ManagedCluster; the fields are the API server's defaults",
  },
];
