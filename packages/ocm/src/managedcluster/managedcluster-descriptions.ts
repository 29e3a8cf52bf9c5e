import { conditionsDescriptions, descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";

export const managedClusterDescriptions: FieldDescriptions = {
  "": "A member cluster of the hub, and the status its agent reports.",
  spec: "The desired state of the cluster on the hub.",
  "spec.hubAcceptsClient":
    "Whether the hub accepts the cluster: only then it gets a namespace, and its agent gets permissions. " +
    "Setting it to true needs the permission to update managedclusters/accept.",
  "spec.leaseDurationSeconds":
    "How often the agent renews its lease in seconds. After five intervals without a renewal the cluster is Unknown.",
  "spec.managedClusterClientConfigs": "The addresses of the cluster's API server. Agents add to it.",
  "spec.managedClusterClientConfigs[].url": "The URL of the API server.",
  "spec.managedClusterClientConfigs[].caBundle": "The CA of the API server: PEM, in base64.",
  "spec.taints":
    "Exclude the cluster from Placements that do not tolerate them. The hub adds taints to clusters that are " +
    "not available, and copies NoSelect and NoSelectIfNew to the Cluster of the same name.",
  "spec.taints[].key": "The key of the taint.",
  "spec.taints[].value": "The value of the taint.",
  "spec.taints[].effect":
    "NoSelect removes the cluster from Placements, NoSelectIfNew keeps existing selections. PreferNoSelect is accepted and has no effect.",
  "spec.taints[].timeAdded": "When the taint was added. The server sets it; tolerationSeconds counts from it.",

  status: "The state that the hub and the agent observe.",
  "status.conditions":
    "HubAcceptedManagedCluster, ManagedClusterJoined, ManagedClusterConditionAvailable and others of the agent.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
  "status.clusterClaims": "The properties that the cluster declares about itself.",
  "status.clusterClaims[].name": "The name of the property, such as id.k8s.io.",
  "status.clusterClaims[].value": "The value of the property.",
  "status.allocatable": "The total resources of all nodes that pods can use.",
  "status.capacity": "The total resources of all nodes.",
  "status.version": "The versions of the cluster.",
  "status.version.kubernetes": "The version of Kubernetes.",
  "status.managedNamespaces": "Namespaces that the sets of the cluster request.",
  "status.managedNamespaces[].name": "The name of the namespace.",
  "status.managedNamespaces[].clusterSet": "The set that requests it.",
  "status.managedNamespaces[].conditions": "NamespaceAvailable reports whether the cluster has the namespace.",
  ...descriptionsAt("status.managedNamespaces[].conditions", conditionsDescriptions),
};
