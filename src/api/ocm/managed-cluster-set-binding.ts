/** ManagedClusterSetBinding: lets Placements of a namespace choose clusters of the set that it is named after. */
import { customKind } from "../define.ts";
import type { ManagedClusterSetBinding as ManagedClusterSetBindingFacts } from "../facts/cluster-ocm-v1beta2.ts";
import type { Kind } from "../kind.ts";
import { CLUSTER_GROUP } from "./names.ts";

export type ManagedClusterSetBinding = ManagedClusterSetBindingFacts;

export const ManagedClusterSetBinding: Kind<ManagedClusterSetBinding> = customKind<ManagedClusterSetBinding>({
  group: CLUSTER_GROUP,
  storageVersion: "v1beta2",
  kind: "ManagedClusterSetBinding",
  plural: "managedclustersetbindings",
  shortNames: ["mclsetbinding", "mclsetbindings"],
  scope: "Namespaced",
  facts: "managedclustersetbindings.cluster.open-cluster-management.io",
  columns: [],
  subresources: { status: true },
});
