/**
 * AddOnPlacementScore: numbers that somebody gives a cluster, in its namespace, for Placements to order clusters by.
 */
import type { AddOnPlacementScore as AddOnPlacementScoreFacts } from "../facts/cluster-ocm-v1alpha1.ts";
import type { Kind } from "../kind.ts";
import { CLUSTER_GROUP } from "./names.ts";
import { ocmKind } from "./ocm-kind.ts";

export type AddOnPlacementScore = AddOnPlacementScoreFacts;

export const AddOnPlacementScore: Kind<AddOnPlacementScore> = ocmKind<AddOnPlacementScore>({
  group: CLUSTER_GROUP,
  storageVersion: "v1alpha1",
  kind: "AddOnPlacementScore",
  plural: "addonplacementscores",
  scope: "Namespaced",
  facts: "addonplacementscores.cluster.open-cluster-management.io",
  columns: [],
  subresources: { status: true },
  describes: {
    "": "Numbers that somebody gives a cluster, for Placements to order clusters by. It lives in the namespace of the cluster.",
    "status.scores": "By name, from -100 to 100.",
    "status.validUntil": "Until when the scores count; unset is for ever.",
  },
});
