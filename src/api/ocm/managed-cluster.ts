/**
 * ManagedCluster: a member as Open Cluster Management sees it, whether the hub accepts it, and what its agent reports.
 */
import type { ManagedCluster as ManagedClusterFacts } from "../facts/cluster-ocm-v1.ts";
import type { Kind } from "../kind.ts";
import { conditionColumn, OCM_AGE } from "./columns.ts";
import { CLUSTER_GROUP } from "./names.ts";
import { ocmKind } from "./ocm-kind.ts";

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
    "": "A member cluster of the hub, and what its agent reports.",
    spec: "How the hub sees the cluster.",
    "spec.hubAcceptsClient":
      "Whether the hub accepts the cluster. Setting it to true needs the permission to update managedclusters/accept.",
    "spec.leaseDurationSeconds":
      "How often the agent renews its lease, 60 by default. After five times that without news the cluster is Unknown.",
    "spec.managedClusterClientConfigs":
      "Where the API server of the cluster is, and the certificates to trust. Agents add to it.",
    "spec.taints": "Keep the cluster out of Placements that do not tolerate them. The server dates them.",
    "spec.taints[].effect":
      "NoSelect takes the cluster out of Placements, NoSelectIfNew keeps it where it is selected, PreferNoSelect selects others first.",
    status: "What the hub and the agent observe.",
    "status.clusterClaims": "What the cluster says of itself.",
    "status.allocatable": "What all nodes together can give to pods.",
    "status.capacity": "What all nodes together have.",
    "status.managedNamespaces": "Namespaces that sets of the cluster ask for.",
  },
});
