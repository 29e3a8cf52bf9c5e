/** ManagedCluster: a member as Open Cluster Management sees it, whether the hub accepts it, and what its agent reports. */
import { customKind } from "../define.ts";
import type { ManagedCluster as ManagedClusterFacts } from "../facts/cluster-ocm-v1.ts";
import type { Kind } from "../kind.ts";
import { conditionColumn, OCM_AGE } from "./columns.ts";
import { CLUSTER_GROUP } from "./names.ts";

export type ManagedCluster = ManagedClusterFacts;

export const ManagedCluster: Kind<ManagedCluster> = customKind<ManagedCluster>({
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
});
