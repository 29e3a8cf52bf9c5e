/**
 * ManagedCluster: a member as Open Cluster Management represents it: whether the hub accepts it, and the status its
 * agent reports.
 */
import type { ManagedCluster as ManagedClusterFacts } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { conditionColumn, OCM_AGE } from "../kind-builder/columns.ts";
import { CLUSTER_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { managedClusterDescriptions } from "./managedcluster-descriptions.ts";

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
  descriptions: managedClusterDescriptions,
});
