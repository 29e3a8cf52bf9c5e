/** AddOnPlacementScore: numbers that somebody gives a cluster, in its namespace, for Placements to order clusters by. */
import { customKind } from "../define.ts";
import type { AddOnPlacementScore as AddOnPlacementScoreFacts } from "../facts/cluster-ocm-v1alpha1.ts";
import type { Kind } from "../kind.ts";
import { CLUSTER_GROUP } from "./names.ts";

export type AddOnPlacementScore = AddOnPlacementScoreFacts;

export const AddOnPlacementScore: Kind<AddOnPlacementScore> = customKind<AddOnPlacementScore>({
  group: CLUSTER_GROUP,
  storageVersion: "v1alpha1",
  kind: "AddOnPlacementScore",
  plural: "addonplacementscores",
  scope: "Namespaced",
  facts: "addonplacementscores.cluster.open-cluster-management.io",
  columns: [],
  subresources: { status: true },
});
