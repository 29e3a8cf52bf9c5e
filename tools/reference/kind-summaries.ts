/** One sentence on each kind of other projects whose schema has none of ours, by the name of the kind. */

export const kindSummaries: Readonly<Record<string, string>> = {
  // Karmada
  WorkloadRebalancer: "An order, carried out once, to schedule workloads afresh.",
  Cluster: "A member of the fleet: how it is reached, whether it is well, what it serves, and what it has room for.",
  ResourceInterpreterCustomization:
    "Rules in Lua that say what a kind means: its replicas, health, status and dependencies.",
  ResourceInterpreterWebhookConfiguration: "Servers that are asked what kinds mean.",
  ClusterOverridePolicy: "How copies of any object differ on some members.",
  ClusterPropagationPolicy:
    "Which objects, of any namespace or of none, go to which members, and how replicas are divided.",
  ClusterTaintPolicy: "Taints that members get while they have certain conditions.",
  OverridePolicy: "How copies of objects in its namespace differ on some members.",
  PropagationPolicy: "Which objects of its namespace go to which members, and how replicas are divided.",
  ClusterResourceBinding: "Where an object that is in no namespace is, and what its members report. Made by Flotilla.",
  ResourceBinding:
    "Where an object is, how many replicas each member has, and what the members report. Made by Flotilla.",
  Work: "One member's copy of objects, and what became of them there. Made by Flotilla.",
  // OpenKruise
  BroadcastJob: "Runs a pod to its end on every node.",
  CloneSet: "A Deployment with in-place updates, a partition, and pods that can be chosen for deletion.",
  DaemonSet: "OpenKruise's DaemonSet, with a partition, surging, and rollouts by node.",
  SidecarSet: "Containers that are put into pods as they are created, and updated by themselves.",
  StatefulSet:
    "OpenKruise's StatefulSet, with a partition, in-place updates, reserved ordinals, and several pods at a time.",
  UnitedDeployment: "A workload that is spread over subsets, such as zones of one cluster.",
  PodUnavailableBudget: "How many pods of an application may be unavailable by anybody's doing, updates included.",
  // Argo
  Workflow: "Steps that run to their end as pods, one after another or as a graph.",
};
