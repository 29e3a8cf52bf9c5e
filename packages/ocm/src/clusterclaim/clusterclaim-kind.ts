/**
 * ClusterClaim: a property that a member declares about itself, stored on the member. Its agent reports it to the hub.
 */
import type { ClusterClaim as ClusterClaimFacts } from "@flotilla/apimachinery/facts/cluster-ocm-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { CLUSTER_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { clusterClaimDescriptions } from "./clusterclaim-descriptions.ts";

export type ClusterClaim = ClusterClaimFacts;

export const ClusterClaim: Kind<ClusterClaim> = ocmKind<ClusterClaim>({
  group: CLUSTER_GROUP,
  storageVersion: "v1alpha1",
  kind: "ClusterClaim",
  plural: "clusterclaims",
  scope: "Cluster",
  facts: "clusterclaims.cluster.open-cluster-management.io",
  columns: [],
  descriptions: clusterClaimDescriptions,
});
