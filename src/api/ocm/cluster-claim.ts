/** ClusterClaim: something that a member says of itself, on the member. Its agent reports it to the hub. */
import { customKind } from "../define.ts";
import type { ClusterClaim as ClusterClaimFacts } from "../facts/cluster-ocm-v1alpha1.ts";
import type { Kind } from "../kind.ts";
import { CLUSTER_GROUP } from "./names.ts";

export type ClusterClaim = ClusterClaimFacts;

export const ClusterClaim: Kind<ClusterClaim> = customKind<ClusterClaim>({
  group: CLUSTER_GROUP,
  storageVersion: "v1alpha1",
  kind: "ClusterClaim",
  plural: "clusterclaims",
  scope: "Cluster",
  facts: "clusterclaims.cluster.open-cluster-management.io",
  columns: [],
});
