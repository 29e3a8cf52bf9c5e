/** PlacementDecision: clusters that a Placement selected, at most a hundred per object. */
import type {
  ClusterDecision as ClusterDecisionFacts,
  PlacementDecision as PlacementDecisionFacts,
} from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { CLUSTER_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { placementDecisionDescriptions } from "./placementdecision-descriptions.ts";

interface ClusterDecision extends ClusterDecisionFacts {
  score?: number;
}

export interface PlacementDecisionStatus {
  decisions: ClusterDecision[];
}

export interface PlacementDecision extends PlacementDecisionFacts {
  status?: PlacementDecisionStatus;
}

export const PlacementDecision: Kind<PlacementDecision> = ocmKind<PlacementDecision>({
  group: CLUSTER_GROUP,
  storageVersion: "v1beta1",
  kind: "PlacementDecision",
  plural: "placementdecisions",
  scope: "Namespaced",
  facts: "placementdecisions.cluster.open-cluster-management.io",
  columns: [],
  subresources: { status: true },
  newer: [{ at: "status.decisions[]", properties: { score: { type: "integer", format: "int64" } } }],
  descriptions: placementDecisionDescriptions,
});
