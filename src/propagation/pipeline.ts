/**
 * The pipeline: the life of an object from a user's apply to pods on members and back. Start reading here.
 *
 * Stages never call each other. They meet in the API objects: each reads what the ones before it wrote, and every field
 * has one writer. `pipeline.test.ts` holds this table against a running fleet. ResourceBinding stands for
 * ClusterResourceBinding too, and PropagationPolicy for ClusterPropagationPolicy: the stages run for both scopes.
 */
export interface Stage {
  /** Also the folder under `propagation`. */
  name: string;
  does: string;
  reads: readonly string[];
  /** `Kind.path`, where `template` stands for the object that the user applied and `member` for its copies. */
  writes: readonly string[];
}

export const pipeline: readonly Stage[] = [
  {
    name: "match",
    does: "finds the policy for a template and keeps the binding of the two",
    reads: ["template", "PropagationPolicy", "OverridePolicy", "PriorityClass"],
    writes: [
      "template.metadata.labels[propagationpolicy.karmada.io]",
      "template.metadata.annotations[propagationpolicy.karmada.io]",
      "ResourceBinding.metadata.labels[propagationpolicy.karmada.io]",
      "ResourceBinding.metadata.annotations[propagationpolicy.karmada.io]",
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
      "ResourceBinding.metadata.annotations[policy.karmada.io/applied-placement]",
      "ResourceBinding.status.conditions[Scheduled]",
      "ResourceBinding.status.schedulerObservedGeneration",
      "ResourceBinding.status.schedulerObservingAffinityName",
      "ResourceBinding.status.lastScheduledTime",
    ],
  },
  {
    // Orders to leave a cluster are a list: whoever has the reason adds one, named by its producer, and `eviction`
    // alone ends them.
    name: "failover",
    does: "orders a resource to leave a member on which it stays unhealthy, or whose taints it does not tolerate",
    reads: ["ResourceBinding", "Cluster"],
    writes: [
      "ResourceBinding.spec.gracefulEvictionTasks[ApplicationFailover]",
      "ResourceBinding.spec.gracefulEvictionTasks[TaintManager]",
      "ResourceBinding.metadata.annotations[flotilla.dev/unhealthy-since]",
    ],
  },
  {
    name: "eviction",
    does: "ends an order to leave a member once the resource is healthy where it went",
    reads: ["ResourceBinding"],
    writes: [
      "ResourceBinding.spec.gracefulEvictionTasks[ended]",
      "ResourceBinding.metadata.annotations[flotilla.dev/moves]",
    ],
  },
  {
    // What a resource needs, such as a ConfigMap, has a binding too; where no policy propagates it as well, it is
    // `attached`.
    name: "dependencies",
    does: "takes what a resource needs to where the resource runs",
    reads: ["ResourceBinding", "template"],
    writes: [
      "ResourceBinding.metadata.annotations[resourcebinding.karmada.io/dependencies]",
      "ResourceBinding.metadata.annotations[flotilla.dev/unmanaged]",
      "ResourceBinding.metadata.annotations[flotilla.dev/let-go-for]",
      "ResourceBinding.metadata.labels[resourcebinding.karmada.io/depended-by]",
      "ResourceBinding.spec.requiredBy",
      "attached",
    ],
  },
  {
    name: "rebalance",
    does: "has resources scheduled afresh when a WorkloadRebalancer says so",
    reads: ["WorkloadRebalancer", "ResourceBinding"],
    writes: ["ResourceBinding.spec.rescheduleTriggeredAt", "WorkloadRebalancer.status"],
  },
  {
    // It has no object of its own to write, so dispatch is its controller: `changes.ts` says which bindings to look at
    // again, `renderer.ts` gathers the policies, `plan-overrides.ts` decides.
    name: "override",
    does: "changes a member's copy as override policies say",
    reads: ["OverridePolicy", "ClusterOverridePolicy", "Cluster"],
    writes: [],
  },
  {
    name: "dispatch",
    does: "makes one Work per target cluster, with that member's copy",
    reads: ["ResourceBinding", "template", "override"],
    writes: ["Work.metadata", "Work.spec", "ResourceBinding.status.conditions[Dispatched]"],
  },
  {
    name: "execute",
    does: "applies a Work's manifests on its member, and again when they drift",
    reads: ["Work.spec", "member"],
    writes: [
      "member",
      "Work.status.conditions[Applied]",
      "Work.status.conditions[Dispatching]",
      "Work.status.conditions[Drifted]",
      "Work.status.conditions[Managed]",
    ],
  },
  {
    name: "reflect",
    does: "brings the status of a member's objects back to the Work",
    reads: ["Work.spec", "member.status"],
    writes: ["Work.status.manifestStatuses"],
  },
  {
    name: "aggregate",
    does: "sums the members' statuses onto the binding and the template",
    reads: ["ResourceBinding", "Work.status", "template"],
    writes: [
      "ResourceBinding.status.aggregatedStatus",
      "ResourceBinding.status.conditions[FullyApplied]",
      "template.status",
    ],
  },
];
