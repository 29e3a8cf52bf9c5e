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
import { CLUSTER_GROUP } from "../names.ts";
import { ocmKind } from "../kind-builder/ocm-kind.ts";

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
          description: "How often scores in decisions may change when the selected clusters do not.",
        },
        sortBy: {
          type: "string",
          enum: ["ClusterName", "Score"],
          default: "ClusterName",
          description: "The order of the selected clusters in decisions.",
        },
      },
    },
    { at: "status", properties: { lastScoreUpdateTime: { type: "string", format: "date-time" } } },
  ],
  describes: {
    "": "Selects clusters of the sets that its namespace is bound to, and keeps the selection current.",
    "spec.clusterSets": "Sets to select from, all bound ones by default.",
    "spec.numberOfClusters": "How many clusters to select, all by default.",
    "spec.predicates":
      "A cluster must match one of them; each one requires labels, claims and every expression to match.",
    "spec.prioritizerPolicy": "How clusters are ranked when more match than desired.",
    "spec.spreadPolicy": "How evenly the selected clusters are spread over labels or claims.",
    "spec.tolerations": "Cluster taints that are tolerated.",
    "spec.decisionStrategy": "How the selected clusters are divided into groups, which a rollout follows.",
    "status.numberOfSelectedClusters": "The number of selected clusters.",
    "status.decisionGroups": "The groups, each with the names of its PlacementDecisions.",
    "status.conditions": "PlacementSatisfied and PlacementMisconfigured.",
  },
});
