/**
 * Placement: selects clusters of the sets that its namespace is bound to. Karmada has a type of this name, so here it
 * is OcmPlacement.
 */
import type {
  Placement as PlacementFacts,
  PlacementSpec as PlacementSpecFacts,
  PlacementStatus as PlacementStatusFacts,
} from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { conditionColumn } from "../kind-builder/columns.ts";
import { CLUSTER_GROUP } from "../ocm-names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";
import { placementDescriptions } from "./placement-descriptions.ts";

export interface OcmPlacementSpec extends PlacementSpecFacts {
  sortBy?: "ClusterName" | "Score";
  /** How often scores in decisions change when the selected clusters do not: `1m`. */
  scoreRateLimit?: string;
}

interface OcmPlacementStatus extends PlacementStatusFacts {
  lastScoreUpdateTime?: string;
}

export interface OcmPlacement extends PlacementFacts {
  spec: OcmPlacementSpec;
  status?: OcmPlacementStatus;
}

export const OcmPlacement: Kind<OcmPlacement> = ocmKind<OcmPlacement>({
  group: CLUSTER_GROUP,
  storageVersion: "v1beta1",
  kind: "Placement",
  plural: "placements",
  scope: "Namespaced",
  facts: "placements.cluster.open-cluster-management.io",
  columns: [
    conditionColumn("Succeeded", "PlacementSatisfied"),
    conditionColumn("Reason", "PlacementSatisfied", "reason"),
    { name: "SelectedClusters", type: "integer", jsonPath: ".status.numberOfSelectedClusters" },
  ],
  subresources: { status: true },
  newer: [
    {
      at: "spec",
      properties: {
        scoreRateLimit: {
          type: "string",
          pattern: "^[0-9]+[hms]$",
          default: "1m",
        },
        sortBy: {
          type: "string",
          enum: ["ClusterName", "Score"],
          default: "ClusterName",
        },
      },
    },
    { at: "status", properties: { lastScoreUpdateTime: { type: "string", format: "date-time" } } },
  ],
  descriptions: placementDescriptions,
});
