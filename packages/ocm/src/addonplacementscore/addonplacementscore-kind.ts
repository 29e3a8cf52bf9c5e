/** AddOnPlacementScore: scores of a cluster, in its namespace, by which Placements rank clusters. */
import type { AddOnPlacementScore as AddOnPlacementScoreFacts } from "@flotilla/apimachinery/facts/cluster-ocm-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { CLUSTER_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { addOnPlacementScoreDescriptions } from "./addonplacementscore-descriptions.ts";

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
  descriptions: addOnPlacementScoreDescriptions,
});
