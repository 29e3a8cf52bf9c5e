/** VolumeAttributesClass: properties that can be changed while a volume is in use. */
import { ageColumn, builtInKind, column, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { VolumeAttributesClass as VolumeAttributesClassFacts } from "@flotilla/apimachinery/facts/storage-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type VolumeAttributesClass = VolumeAttributesClassFacts;

export const VolumeAttributesClass: Kind<VolumeAttributesClass> = builtInKind<VolumeAttributesClass>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttributesClass",
  plural: "volumeattributesclasses",
  shortNames: ["vac"],
  scope: "Cluster",
  facts: "storage-v1",
  columns: [nameColumn, column<VolumeAttributesClass>("DriverName", ({ driverName }) => driverName ?? ""), ageColumn],
  traits: { deletionReturnsObject: true, metadataChecks: { update: true, create: true } },
});

export const volumeAttributesClass = defineKind({
  kind: VolumeAttributesClass,
  rules: [
    lazyAdmission(
      VolumeAttributesClass,
      "storage-v1",
      async () => (await import("./csi-rules.ts")).volumeAttributesClassRules,
    ),
  ],
  example: exampleOf(VolumeAttributesClass, { driverName: "disks.example.com", parameters: { iops: "100" } }),
});
