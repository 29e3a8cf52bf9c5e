import { defineKind } from "@flotilla/kubernetes";
import { PlacementDecision } from "./placementdecision-kind.ts";
import { placementDecisionRules } from "./placementdecision-rules.ts";

const example: PlacementDecision = {
  apiVersion: "cluster.open-cluster-management.io/v1beta1",
  kind: "PlacementDecision",
  metadata: { name: "web", namespace: "shop" },
};

export const placementDecision = defineKind({
  kind: PlacementDecision,
  example,
  rules: placementDecisionRules,
});
