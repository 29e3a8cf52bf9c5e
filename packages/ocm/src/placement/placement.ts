import { defineKind } from "@flotilla/kubernetes";
import { OcmPlacement } from "./placement-kind.ts";
import { placementRules } from "./placement-rules.ts";

const example: OcmPlacement = {
  apiVersion: "cluster.open-cluster-management.io/v1beta1",
  kind: "Placement",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    predicates: [
      { requiredClusterSelector: { celSelector: { celExpressions: ["managedCluster.metadata.name != ''"] } } },
    ],
  },
};

export const placement = defineKind({ kind: OcmPlacement, example, rules: placementRules });
