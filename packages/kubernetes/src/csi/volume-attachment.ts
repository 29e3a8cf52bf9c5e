/** VolumeAttachment: a request to attach a volume to a node, and its state. */
import { ageColumn, builtInKind, column, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { VolumeAttachment as VolumeAttachmentFacts } from "@flotilla/apimachinery/facts/storage-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type VolumeAttachment = VolumeAttachmentFacts;

export const VolumeAttachment: Kind<VolumeAttachment> = builtInKind<VolumeAttachment>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  scope: "Cluster",
  facts: "storage-v1",
  columns: [
    nameColumn,
    column<VolumeAttachment>("Attacher", ({ spec }) => spec.attacher ?? "", { format: "name" }),
    column<VolumeAttachment>("PV", ({ spec }) => spec.source?.persistentVolumeName ?? ""),
    column<VolumeAttachment>("Node", ({ spec }) => spec.nodeName ?? ""),
    column<VolumeAttachment>("Attached", ({ status }) => status?.attached ?? false, { type: "boolean" }),
    ageColumn,
  ],
  subresources: { status: true },
  traits: {
    deletionReturnsObject: true,
    requiresVersion: true,
    metadataChecks: { create: true },
    statusKeepsMetadata: true,
  },
});

export const volumeAttachment = defineKind({
  kind: VolumeAttachment,
  rules: [
    lazyAdmission(VolumeAttachment, "storage-v1", async () => (await import("./csi-rules.ts")).volumeAttachmentRules),
  ],
  example: exampleOf(VolumeAttachment, {
    spec: { attacher: "disks.example.com", nodeName: "node-1", source: { persistentVolumeName: "data" } },
  }),
});
