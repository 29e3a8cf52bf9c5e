/**
 * What fields of Karmada's and OpenKruise's kinds are for, in our words, by kind and path. Their schemas come from fact
 * tables, which have no sentences; fields of our own kinds and of Open Cluster Management's are described where they
 * are declared.
 */

type Notes = Readonly<Record<string, string>>;

const selectors: Notes = {
  "spec.resourceSelectors":
    "Which objects. Of several the best match counts: by name, then by labels, then by kind alone.",
  "spec.resourceSelectors[].apiVersion": "Any served version means the kind in all of them.",
  "spec.resourceSelectors[].namespace": "Only in policies of the cluster; a policy in a namespace means its own.",
};

const affinity = (at: string): Notes => ({
  [`${at}.clusterNames`]: "These members and no others.",
  [`${at}.exclude`]: "Never these, whatever else matches.",
  [`${at}.labelSelector`]: "Members by the labels of their Cluster.",
  [`${at}.fieldSelector`]: "Members by `provider`, `region` or `zone`.",
});

const placement: Notes = {
  "spec.placement": "Where copies go. Without it, to every member.",
  "spec.placement.clusterAffinity": "Members that fit; without it all do.",
  ...affinity("spec.placement.clusterAffinity"),
  "spec.placement.clusterAffinities":
    "Groups of members in the order in which they are tried; the first that can take everything is followed.",
  "spec.placement.clusterAffinities[].overflowAffinities": "Members that take what the group has no room for.",
  "spec.placement.clusterTolerations": "Taints of members that do not matter.",
  "spec.placement.spreadConstraints":
    "Over how many clusters, regions, zones, providers or values of a label it is spread, at least and at most.",
  "spec.placement.spreadConstraints[].minGroups": "1 unless given.",
  "spec.placement.spreadConstraints[].maxGroups": "No limit unless given.",
  "spec.placement.replicaScheduling": "How replicas are divided. Without it every member gets all of them.",
  "spec.placement.replicaScheduling.replicaSchedulingType":
    "`Duplicated`: every member gets all replicas. `Divided`: together they have them.",
  "spec.placement.replicaScheduling.replicaDivisionPreference":
    "`Weighted`: by weights. `Aggregated`: on as few members as have room.",
  "spec.placement.replicaScheduling.weightPreference":
    "Fixed weights for members, or `dynamicWeight: AvailableReplicas`, which is what members have free. Without it all weigh the same.",
  "spec.placement.workloadAffinity": "Together with, or apart from, templates that have the same value of a label.",
};

const failover: Notes = {
  "spec.failover": "When copies move off a member. Without it nothing does.",
  "spec.failover.application": "When a copy is unhealthy for too long.",
  "spec.failover.application.decisionConditions": "For how long.",
  "spec.failover.application.gracePeriodSeconds": "How long the old copy waits for the new one.",
  "spec.failover.application.purgeMode":
    "What becomes of the old copy: it goes when the new one is up, at once, or stays.",
  "spec.failover.application.statePreservation": "Values of the old copy's status that the new one gets as labels.",
  "spec.failover.cluster": "When a member has a NoExecute taint that is not tolerated.",
};

const propagation: Notes = {
  ...selectors,
  ...placement,
  ...failover,
  "spec.priority": "The higher wins where several policies select an object.",
  "spec.preemption": "`Always` takes objects that another policy has.",
  "spec.activationPreference": "`Lazy`: a change of the policy does nothing until the object changes.",
  "spec.conflictResolution":
    "`Abort` leaves an object alone that a member has already and that is not ours; `Overwrite` takes it over.",
  "spec.dependentOverrides": "OverridePolicies that must be there before anything is sent.",
  "spec.propagateDeps": "ConfigMaps, Secrets and whatever else the object needs go along.",
  "spec.association": "Deprecated, and without effect as in Karmada: use `propagateDeps`.",
  "spec.preserveResourcesOnDeletion": "Copies stay on members when the template is deleted.",
  "spec.schedulePriority": "What is decided first when several wait for the scheduler.",
  "spec.schedulerName": "Another scheduler decides.",
  "spec.suspension": "Nothing is sent to members, or to some of them.",
};

const overriders = (at: string): Notes => ({
  [`${at}.plaintext`]: "A JSON patch: a path, `add`, `replace` or `remove`, and a value.",
  [`${at}.imageOverrider`]: "Registry, repository or tag of images.",
  [`${at}.commandOverrider`]: "Words of a container's command.",
  [`${at}.argsOverrider`]: "Words of a container's arguments.",
  [`${at}.labelsOverrider`]: "Labels of the object.",
  [`${at}.annotationsOverrider`]: "Annotations of the object.",
  [`${at}.fieldOverrider`]: "Fields of JSON or YAML that stands in a text, such as a value of a ConfigMap.",
});

const override: Notes = {
  ...selectors,
  "spec.overrideRules": "What changes where. Each rule that means the member is applied, in order.",
  "spec.overrideRules[].targetCluster": "Members that the rule means; without it all of them.",
  ...overriders("spec.overrideRules[].overriders"),
  "spec.targetCluster": "Deprecated: use `overrideRules`.",
  "spec.overriders": "Deprecated: use `overrideRules`.",
};

const binding: Notes = {
  ...placement,
  ...failover,
  "spec.resource": "The template.",
  "spec.clusters": "Where it is to be, and with how many replicas. Written by the scheduler.",
  "spec.replicas": "How many there are to divide.",
  "spec.replicaRequirements": "What one replica asks for, which tells how many fit a member.",
  "spec.components": "The same for workloads of several kinds of pods.",
  "spec.requiredBy": "Templates that take this one along, and where they are.",
  "spec.gracefulEvictionTasks": "Orders to leave a member that are under way.",
  "spec.rescheduleTriggeredAt": "When somebody asked for it to be scheduled afresh.",
  "spec.suspension": "Nothing is sent, or nothing is scheduled.",
  "status.aggregatedStatus": "What each member reports: whether the copy was applied, its health, its status.",
  "status.conditions": "Scheduled and FullyApplied; Dispatched once something went wrong there.",
  "status.schedulerObservingAffinityName": "Which of `clusterAffinities` is followed.",
};

const lifecycle: Notes = {
  "spec.lifecycle":
    "What holds a pod back before it is deleted, updated in place, or taken for normal: labels or finalizers that somebody else removes.",
};

export const fieldNotes: Readonly<Record<string, Notes>> = {
  PropagationPolicy: propagation,
  ClusterPropagationPolicy: propagation,
  OverridePolicy: override,
  ClusterOverridePolicy: override,
  ResourceBinding: binding,
  ClusterResourceBinding: binding,
  ClusterTaintPolicy: {
    "spec.targetClusters": "Members that it is about; without it all of them.",
    "spec.addOnConditions": "The taints are added when all of these hold of a member's conditions.",
    "spec.removeOnConditions": "They are removed when all of these hold.",
    "spec.taints": "NoSchedule; NoExecute needs `flotilla up --allow-no-execute-taint-policy`.",
  },
  WorkloadRebalancer: {
    "spec.workloads": "Templates that are scheduled afresh.",
    "spec.ttlSecondsAfterFinished": "The order deletes itself so long after it was carried out; without it it stays.",
    "status.observedWorkloads": "What became of each.",
  },
  Cluster: {
    "spec.syncMode": "`Push`: the hub reaches the member. `Pull`: an agent there reaches the hub.",
    "spec.apiEndpoint": "Where the member's API server is.",
    "spec.secretRef": "The Secret with the hub's credentials for the member.",
    "spec.impersonatorSecretRef": "The Secret with which users are spoken for through the cluster proxy.",
    "spec.insecureSkipTLSVerification": "The member's certificate is not checked.",
    "spec.proxyURL": "How the member is reached where there is no direct way.",
    "spec.taints": "Keep workloads out, or move them away.",
    "spec.resourceModels": "Sizes of nodes by which room is counted.",
    "status.kubernetesVersion": "As the member says.",
    "status.apiEnablements": "The kinds that it serves.",
    "status.conditions": "Ready, CompleteAPIEnablements and Unjoining.",
    "status.resourceSummary": "What its nodes have, and what pods ask for.",
  },
  ResourceInterpreterCustomization: {
    "spec.target": "The kind that it is about, in exactly this version.",
    "spec.customizations.replicaResource": "`GetReplicas`: how many replicas, and what one asks for.",
    "spec.customizations.replicaRevision": "`ReviseReplica`: the object with another number of replicas.",
    "spec.customizations.retention": "`Retain`: what of a member's object stays when it is updated.",
    "spec.customizations.statusReflection": "`ReflectStatus`: what of a member's status goes to the hub.",
    "spec.customizations.statusAggregation": "`AggregateStatus`: the status of the template from those of the members.",
    "spec.customizations.healthInterpretation": "`InterpretHealth`: whether a member's object is well.",
    "spec.customizations.dependencyInterpretation": "`GetDependencies`: what it needs.",
    "spec.customizations.componentResource": "`GetComponents`: its kinds of pods.",
  },
  ResourceInterpreterWebhookConfiguration: {
    "webhooks[].clientConfig": "Where the server is, and which authority vouches for it.",
    "webhooks[].rules": "Which kinds and operations it is asked about.",
    "webhooks[].timeoutSeconds": "How long it may take.",
    "webhooks[].interpreterContextVersions": "Versions of the protocol that it speaks.",
  },
  Work: {
    "spec.workload.manifests": "The objects, as the member gets them.",
    "spec.suspendDispatching": "They are not sent.",
    "spec.preserveResourcesOnDeletion": "They stay when the Work goes.",
    "status.conditions": "Applied; Dispatching, Drifted and Managed once there was something to say.",
    "status.manifestStatuses": "Status and health of each object there.",
  },
  CloneSet: {
    ...lifecycle,
    "spec.replicas": "Divided over the members.",
    "spec.scaleStrategy.podsToDelete": "Names of pods that go first when it shrinks.",
    "spec.scaleStrategy.maxUnavailable": "How many pods may be unavailable while it grows. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.podUpdatePolicy":
      "Recreate pods, or update them in place where that is possible, or only so.",
    "spec.updateStrategy.rollingUpdate.partition":
      "How many pods keep the old template. Counts the pods of the fleet; raising it takes pods back.",
    "spec.updateStrategy.rollingUpdate.maxUnavailable":
      "How many pods an update may make unavailable. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.maxSurge": "How many pods an update may add. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.paused": "The update stands still.",
    "spec.updateStrategy.rollingUpdate.priorityStrategy": "Which pods are updated first.",
    "spec.updateStrategy.rollingUpdate.scatterStrategy": "Pods of these labels are not updated one after another.",
    "spec.volumeClaimTemplates": "Claims that each pod gets.",
    "status.updatedReplicas": "Pods of the newest template, over all members.",
    "status.expectedUpdatedReplicas": "How many the partition asks for.",
  },
  StatefulSet: {
    ...lifecycle,
    "spec.replicas": "Divided over the members.",
    "spec.ordinals": "The first ordinal. Each ordinal exists once in the fleet.",
    "spec.reserveOrdinals": "Ordinals that are left out.",
    "spec.updateStrategy.rollingUpdate.partition": "Pods below this ordinal keep the old template, over the fleet.",
    "spec.updateStrategy.rollingUpdate.maxUnavailable":
      "How many pods an update may make unavailable. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.podUpdatePolicy": "Recreate pods, or update them in place.",
    "spec.persistentVolumeClaimRetentionPolicy": "What becomes of claims when it is deleted or shrinks.",
  },
  DaemonSet: {
    ...lifecycle,
    "spec.updateStrategy.rollingUpdate.partition": "How many nodes keep the old template, over the fleet.",
    "spec.updateStrategy.rollingUpdate.selector": "Nodes that are updated; the others wait.",
    "spec.updateStrategy.rollingUpdate.rollingUpdateType":
      "`Standard` recreates pods, `InPlaceIfPossible` changes them.",
    "spec.burstReplicas": "How many pods are created at a time.",
  },
  SidecarSet: {
    "spec.selector": "Pods that get the sidecars.",
    "spec.namespaceSelector": "Namespaces whose pods are looked at.",
    "spec.containers": "The sidecars.",
    "spec.initContainers": "Containers that come before the others.",
    "spec.injectionStrategy": "Which revision new pods get, or that they get none for now.",
    "spec.updateStrategy.partition": "How many pods keep the old sidecars, over the fleet.",
    "spec.patchPodMetadata": "Annotations that pods get, too.",
  },
  UnitedDeployment: {
    "spec.replicas": "Divided over the members, and there over the subsets.",
    "spec.template": "The workload of a subset, of one of four kinds.",
    "spec.topology.subsets":
      "Where pods of each subset go, and how many. Numbers and limits are divided over the members.",
    "spec.topology.scheduleStrategy": "What happens when a subset has no room.",
    "spec.updateStrategy.manualUpdate.partitions": "A partition for each subset. Divided over the members.",
  },
  BroadcastJob: {
    "spec.parallelism": "How many nodes run it at a time, in each cluster.",
    "spec.completionPolicy": "Whether it ends when every node is done, and how long it may take.",
    "spec.failurePolicy": "What a failed pod means for the rest.",
  },
  PodUnavailableBudget: {
    "spec.maxUnavailable": "How many pods may be unavailable, in each cluster.",
    "spec.minAvailable": "How many must be available, in each cluster.",
    "spec.targetRef": "The workload whose pods it protects, in place of a selector.",
    "spec.protectOperations": "What is refused: deletion, eviction, updates.",
  },
};
