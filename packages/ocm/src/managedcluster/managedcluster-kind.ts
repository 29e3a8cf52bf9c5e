/**
 * ManagedCluster: a member as Open Cluster Management represents it: whether the hub accepts it, and the status its
 * agent reports.
 */
import type { ManagedCluster as ManagedClusterFacts } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { conditionColumn, OCM_AGE } from "../kind-builder/columns.ts";
import { CLUSTER_GROUP } from "../names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";

export type ManagedCluster = ManagedClusterFacts;

export const ManagedCluster: Kind<ManagedCluster> = ocmKind<ManagedCluster>({
  group: CLUSTER_GROUP,
  storageVersion: "v1",
  kind: "ManagedCluster",
  plural: "managedclusters",
  shortNames: ["mcl", "mcls"],
  scope: "Cluster",
  facts: "managedclusters.cluster.open-cluster-management.io",
  columns: [
    { name: "Hub Accepted", type: "boolean", jsonPath: ".spec.hubAcceptsClient" },
    { name: "Managed Cluster URLs", type: "string", jsonPath: ".spec.managedClusterClientConfigs[*].url" },
    conditionColumn("Joined", "ManagedClusterJoined"),
    conditionColumn("Available", "ManagedClusterConditionAvailable"),
    OCM_AGE,
  ],
  subresources: { status: true },
  describes: {
    "": "A member cluster of the hub, and the status its agent reports.",
    spec: "The desired state of the cluster on the hub.",
    "spec.hubAcceptsClient":
      "Whether the hub accepts the cluster. Setting it to true needs the permission to update managedclusters/accept.",
    "spec.leaseDurationSeconds":
      "How often the agent renews its lease in seconds, 60 by default. After five intervals without a renewal the cluster is Unknown.",
    "spec.managedClusterClientConfigs": "The address of the cluster's API server, and its CA bundle. Agents add to it.",
    "spec.taints": "Exclude the cluster from Placements that do not tolerate them. The server sets their time.",
    "spec.taints[].effect":
      "NoSelect removes the cluster from Placements, NoSelectIfNew keeps existing selections, PreferNoSelect selects other clusters first.",
    status: "The state that the hub and the agent observe.",
    "status.clusterClaims": "The properties that the cluster declares about itself.",
    "status.allocatable": "The total resources of all nodes that pods can use.",
    "status.capacity": "The total resources of all nodes.",
    "status.managedNamespaces": "Namespaces that the sets of the cluster request.",
  },
});
