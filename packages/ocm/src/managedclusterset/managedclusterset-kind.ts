/** ManagedClusterSet: a group of clusters, by an exclusive label or by a selector. */
import type { ManagedClusterSet as ManagedClusterSetFacts } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta2.ts";
import type { Kind } from "@flotilla/apimachinery";
import { conditionColumn, OCM_AGE } from "../kind-builder/columns.ts";
import { CLUSTER_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { managedClusterSetDescriptions } from "./managedclusterset-descriptions.ts";

export type ManagedClusterSet = ManagedClusterSetFacts;

export const ManagedClusterSet: Kind<ManagedClusterSet> = ocmKind<ManagedClusterSet>({
  group: CLUSTER_GROUP,
  storageVersion: "v1beta2",
  kind: "ManagedClusterSet",
  plural: "managedclustersets",
  shortNames: ["mclset", "mclsets"],
  scope: "Cluster",
  facts: "managedclustersets.cluster.open-cluster-management.io",
  columns: [conditionColumn("Empty", "ClusterSetEmpty"), OCM_AGE],
  subresources: { status: true },
  descriptions: managedClusterSetDescriptions,
});
