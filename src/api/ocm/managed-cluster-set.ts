/** ManagedClusterSet: clusters that belong together, by a label that excludes other sets or by a selector. */
import type { ManagedClusterSet as ManagedClusterSetFacts } from "../facts/cluster-ocm-v1beta2.ts";
import type { Kind } from "../kind.ts";
import { conditionColumn, OCM_AGE } from "./columns.ts";
import { CLUSTER_GROUP } from "./names.ts";
import { ocmKind } from "./ocm-kind.ts";

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
    "": "Clusters that belong together.",
    "spec.clusterSelector":
      "Which clusters belong to the set: those with its name in their label, or those that a selector matches.",
    "spec.managedNamespaces": "Namespaces that every cluster of the set gets.",
    "status.conditions": "ClusterSetEmpty says whether there is a cluster in the set.",
  },
});
