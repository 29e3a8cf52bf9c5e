/** ManagedClusterSetBinding: lets Placements of a namespace select clusters of the set that it is named after. */
import type { ManagedClusterSetBinding as ManagedClusterSetBindingFacts } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta2.ts";
import type { Kind } from "@flotilla/apimachinery";
import { CLUSTER_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { managedClusterSetBindingDescriptions } from "./managedclustersetbinding-descriptions.ts";

export type ManagedClusterSetBinding = ManagedClusterSetBindingFacts;

export const ManagedClusterSetBinding: Kind<ManagedClusterSetBinding> = ocmKind<ManagedClusterSetBinding>({
  group: CLUSTER_GROUP,
  storageVersion: "v1beta2",
  kind: "ManagedClusterSetBinding",
  plural: "managedclustersetbindings",
  shortNames: ["mclsetbinding", "mclsetbindings"],
  scope: "Namespaced",
  facts: "managedclustersetbindings.cluster.open-cluster-management.io",
  columns: [],
  subresources: { status: true },
  descriptions: managedClusterSetBindingDescriptions,
});
