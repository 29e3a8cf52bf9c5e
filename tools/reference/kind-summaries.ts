/** One sentence on each kind of other projects whose schema has no description, by kind name. */
import { kruiseDefinitions } from "@flotilla/openkruise";

export const kindSummaries: Readonly<Record<string, string>> = {
  // Karmada
  WorkloadRebalancer: "Reschedules workloads once.",
  Cluster: "A member of the fleet: its connection, health, served kinds and available resources.",
  ResourceInterpreterCustomization: "Lua rules that interpret a kind: its replicas, health, status and dependencies.",
  ResourceInterpreterWebhookConfiguration: "Webhooks that interpret kinds.",
  ClusterOverridePolicy: "Overrides for copies of any object on some members.",
  ClusterPropagationPolicy:
    "Which objects, of any namespace or cluster-scoped, are propagated to which members, and how replicas are divided.",
  ClusterTaintPolicy: "Taints for members with certain conditions.",
  OverridePolicy: "Overrides for copies of objects in its namespace on some members.",
  PropagationPolicy: "Which objects of its namespace are propagated to which members, and how replicas are divided.",
  ClusterResourceBinding:
    "The scheduling result of a cluster-scoped object, and its members' reports. Created by Flotilla.",
  ResourceBinding:
    "The scheduling result of an object with the replicas of each member, and its members' reports. Created by Flotilla.",
  Work: "One member's copy of objects, and their status there. Created by Flotilla.",
  ...Object.fromEntries(kruiseDefinitions.flatMap(({ kind, summary }) => (summary ? [[kind.kind, summary]] : []))),
  // Argo
  Workflow: "Steps that run to completion as pods, one after another or as a graph.",
};
