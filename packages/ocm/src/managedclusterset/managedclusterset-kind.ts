/** ManagedClusterSet: a group of clusters, by an exclusive label or by a selector. */
import type { ManagedClusterSet as ManagedClusterSetFacts } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta2.ts";
import type { Kind } from "@flotilla/apimachinery";
import { conditionColumn, OCM_AGE } from "../kind-builder/columns.ts";
import { CLUSTER_GROUP } from "../names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";

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
  describes: {
    "": "A group of clusters.",
    "spec.clusterSelector": "Selects the clusters of the set: by a label with its name, or by a label selector.",
    "spec.managedNamespaces": "Namespaces to create on every cluster of the set.",
    "status.conditions": "ClusterSetEmpty reports whether the set has no clusters.",
  },
});
