import { defineKind } from "@flotilla/kubernetes";
import { AddOnPlacementScore } from "./addonplacementscore-kind.ts";

const example: AddOnPlacementScore = {
  apiVersion: "cluster.open-cluster-management.io/v1alpha1",
  kind: "AddOnPlacementScore",
  metadata: { name: "web", namespace: "shop" },
};

export const addOnPlacementScore = defineKind({ kind: AddOnPlacementScore, example });
