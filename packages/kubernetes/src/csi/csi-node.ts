/** CSINode: the volume drivers of a node, and their IDs for it. */
import { ageColumn, builtInKind, column, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { CSINode as CSINodeFacts } from "@flotilla/apimachinery/facts/storage-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type CSINode = CSINodeFacts;

export const CSINode: Kind<CSINode> = builtInKind<CSINode>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSINode",
  plural: "csinodes",
  scope: "Cluster",
  facts: "storage-v1",
  columns: [
    nameColumn,
    column<CSINode>("Drivers", ({ spec }) => spec.drivers?.length ?? 0, { type: "integer" }),
    ageColumn,
  ],
  traits: { deletionReturnsObject: true, requiresVersion: true, metadataChecks: { create: true } },
});

export const csiNode = defineKind({
  kind: CSINode,
  rules: [lazyAdmission(CSINode, "storage-v1", async () => (await import("./csi-rules.ts")).csiNodeRules)],
  example: exampleOf(CSINode, { spec: { drivers: [] } }),
});
