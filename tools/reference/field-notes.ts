/**
 * Descriptions of the fields of Karmada's and OpenKruise's kinds, by kind and path. Their schemas come from fact
 * tables, which have no descriptions; fields of our own kinds and of Open Cluster Management's are described where they
 * are declared.
 */
import { kruiseDefinitions } from "@flotilla/openkruise";

type Notes = Readonly<Record<string, string>>;

const selectors: Notes = {
  "spec.resourceSelectors":
    "Selects objects. If several selectors match, the best match wins: by name, then by labels, then by kind alone.",
  "spec.resourceSelectors[].apiVersion": "Any served version selects the kind in all versions.",
  "spec.resourceSelectors[].namespace":
    "Only in cluster-scoped policies; a namespaced policy selects in its own namespace.",
};

const affinity = (at: string): Notes => ({
  [`${at}.clusterNames`]: "Only these members.",
  [`${at}.exclude`]: "Never these members, whatever else matches.",
  [`${at}.labelSelector`]: "Selects members by the labels of their Cluster.",
  [`${at}.fieldSelector`]: "Selects members by `provider`, `region` or `zone`.",
});

const placement: Notes = {
  "spec.placement": "The clusters to propagate to. Defaults to every member.",
  "spec.placement.clusterAffinity": "Selects candidate members; defaults to all.",
  ...affinity("spec.placement.clusterAffinity"),
  "spec.placement.clusterAffinities":
    "Groups of members in the order in which they are tried; the first that can take all replicas is used.",
  "spec.placement.clusterAffinities[].overflowAffinities":
    "Members that take the replicas for which the group has no room.",
  "spec.placement.clusterTolerations": "Tolerated taints of members.",
  "spec.placement.spreadConstraints":
    "The minimum and maximum number of clusters, regions, zones, providers or label values to spread over.",
  "spec.placement.spreadConstraints[].minGroups": "1 unless given.",
  "spec.placement.spreadConstraints[].maxGroups": "No limit by default.",
  "spec.placement.replicaScheduling": "How replicas are divided. By default every member gets all of them.",
  "spec.placement.replicaScheduling.replicaSchedulingType":
    "`Duplicated`: every member gets all replicas. `Divided`: the replicas are divided over the members.",
  "spec.placement.replicaScheduling.replicaDivisionPreference":
    "`Weighted`: by weights. `Aggregated`: on as few members as possible.",
  "spec.placement.replicaScheduling.weightPreference":
    "Static weights for members, or `dynamicWeight: AvailableReplicas`, by the members' available replicas. By default all weights are equal.",
  "spec.placement.workloadAffinity": "Schedules together with, or apart from, templates with the same label value.",
};

const failover: Notes = {
  "spec.failover": "When workloads are evicted from a member. By default never.",
  "spec.failover.application": "Evicts a workload that is unhealthy for too long.",
  "spec.failover.application.decisionConditions": "How long it may be unhealthy.",
  "spec.failover.application.gracePeriodSeconds": "How long the old copy waits for the new one.",
  "spec.failover.application.purgeMode":
    "What happens to the old copy: it is deleted when the new one is healthy, deleted at once, or kept.",
  "spec.failover.application.statePreservation": "Values of the old copy's status that the new copy gets as labels.",
  "spec.failover.cluster": "Evicts workloads from a member with a NoExecute taint that is not tolerated.",
};

const propagation: Notes = {
  ...selectors,
  ...placement,
  ...failover,
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

const overriders = (at: string): Notes => ({
  [`${at}.plaintext`]: "A JSON patch: a path, `add`, `replace` or `remove`, and a value.",
  [`${at}.imageOverrider`]: "Registry, repository or tag of images.",
  [`${at}.commandOverrider`]: "Elements of a container's command.",
  [`${at}.argsOverrider`]: "Elements of a container's arguments.",
  [`${at}.labelsOverrider`]: "Labels of the object.",
  [`${at}.annotationsOverrider`]: "Annotations of the object.",
  [`${at}.fieldOverrider`]: "Fields of JSON or YAML inside a string, such as a value of a ConfigMap.",
});

const override: Notes = {
  ...selectors,
  "spec.overrideRules": "The overrides per cluster. Each rule that targets the member is applied, in order.",
  "spec.overrideRules[].targetCluster": "The members that the rule targets; defaults to all.",
  ...overriders("spec.overrideRules[].overriders"),
  "spec.targetCluster": "Deprecated: use `overrideRules`.",
  "spec.overriders": "Deprecated: use `overrideRules`.",
};

const binding: Notes = {
  ...placement,
  ...failover,
  "spec.resource": "The template.",
  "spec.clusters": "The scheduled clusters, and their replicas. Written by the scheduler.",
  "spec.replicas": "The number of replicas to divide.",
  "spec.replicaRequirements": "The resource requirements of one replica, used to estimate how many fit a member.",
  "spec.components": "The same for workloads with several pod templates.",
  "spec.requiredBy": "Templates that depend on this one, and their clusters.",
  "spec.gracefulEvictionTasks": "Evictions in progress.",
  "spec.rescheduleTriggeredAt": "When a user requested rescheduling.",
  "spec.suspension": "Suspends dispatching or scheduling.",
  "status.aggregatedStatus": "The reports of each member: whether the copy was applied, its health, its status.",
  "status.conditions": "Scheduled and FullyApplied; Dispatched once dispatching has failed.",
  "status.schedulerObservingAffinityName": "The entry of `clusterAffinities` in use.",
};

export const fieldNotes: Readonly<Record<string, Notes>> = {
  PropagationPolicy: propagation,
  ClusterPropagationPolicy: propagation,
  OverridePolicy: override,
  ClusterOverridePolicy: override,
  ResourceBinding: binding,
  ClusterResourceBinding: binding,
  ClusterTaintPolicy: {
    "spec.targetClusters": "The members it applies to; defaults to all.",
    "spec.addOnConditions": "The taints are added when a member's conditions match all of these.",
    "spec.removeOnConditions": "The taints are removed when a member's conditions match all of these.",
    "spec.taints": "NoSchedule; NoExecute needs `flotilla up --allow-no-execute-taint-policy`.",
  },
  WorkloadRebalancer: {
    "spec.workloads": "Templates to reschedule.",
    "spec.ttlSecondsAfterFinished": "Deletes the object this long after it has finished; by default it is kept.",
    "status.observedWorkloads": "The result for each workload.",
  },
  Cluster: {
    "spec.syncMode": "`Push`: the hub connects to the member. `Pull`: an agent on the member connects to the hub.",
    "spec.apiEndpoint": "The address of the member's API server.",
    "spec.secretRef": "The Secret with the hub's credentials for the member.",
    "spec.impersonatorSecretRef": "The Secret with the credentials for impersonating users through the cluster proxy.",
    "spec.insecureSkipTLSVerification": "Skips the verification of the member's certificate.",
    "spec.proxyURL": "The proxy to reach the member through.",
    "spec.taints": "Exclude the member from scheduling, or evict its workloads.",
    "spec.resourceModels": "Node sizes for estimating available replicas.",
    "status.kubernetesVersion": "As reported by the member.",
    "status.apiEnablements": "The kinds it serves.",
    "status.conditions": "Ready, CompleteAPIEnablements and Unjoining.",
    "status.resourceSummary": "The resources of its nodes, and the requests of its pods.",
  },
  ResourceInterpreterCustomization: {
    "spec.target": "The kind it applies to, in exactly this version.",
    "spec.customizations.replicaResource": "`GetReplicas`: the number of replicas, and the requirements of one.",
    "spec.customizations.replicaRevision": "`ReviseReplica`: sets the number of replicas.",
    "spec.customizations.retention": "`Retain`: the fields of a member's object that are kept on update.",
    "spec.customizations.statusReflection":
      "`ReflectStatus`: the part of a member's status that is reported to the hub.",
    "spec.customizations.statusAggregation": "`AggregateStatus`: aggregates the template's status from the members'.",
    "spec.customizations.healthInterpretation": "`InterpretHealth`: whether a member's object is healthy.",
    "spec.customizations.dependencyInterpretation": "`GetDependencies`: its dependencies.",
    "spec.customizations.componentResource": "`GetComponents`: its components.",
  },
  ResourceInterpreterWebhookConfiguration: {
    "webhooks[].clientConfig": "The address of the webhook, and the CA that signed its certificate.",
    "webhooks[].rules": "The kinds and operations it interprets.",
    "webhooks[].timeoutSeconds": "The timeout of a request.",
    "webhooks[].interpreterContextVersions": "The supported protocol versions.",
  },
  Work: {
    "spec.workload.manifests": "The objects as delivered to the member.",
    "spec.suspendDispatching": "Suspends the delivery.",
    "spec.preserveResourcesOnDeletion": "Keeps the objects when the Work is deleted.",
    "status.conditions": "Applied; Dispatching, Drifted and Managed if they apply.",
    "status.manifestStatuses": "Status and health of each object on the member.",
  },
  ...Object.fromEntries(kruiseDefinitions.map(({ kind, fieldNotes: notes = {} }) => [kind.kind, notes])),
};
