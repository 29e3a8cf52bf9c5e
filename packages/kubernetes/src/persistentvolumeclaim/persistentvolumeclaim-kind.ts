/** PersistentVolumeClaim: a request for storage. */
import { ageColumn, builtInKind, column, nameColumn, wide } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { PersistentVolumeClaim as PersistentVolumeClaimFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import { STORAGE_CLASS_ANNOTATION } from "../storageclass/storageclass-rules.ts";
import { accessModesCell } from "../storage/access-modes.ts";

export type PersistentVolumeClaim = PersistentVolumeClaimFacts;

export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = builtInKind<PersistentVolumeClaim>({
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  shortNames: ["pvc"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<PersistentVolumeClaim>("Status", ({ metadata, status }) =>
      metadata.deletionTimestamp ? "Terminating" : (status?.phase ?? ""),
    ),
    column<PersistentVolumeClaim>("Volume", ({ spec }) => spec?.volumeName ?? ""),
    column<PersistentVolumeClaim>("Capacity", ({ spec, status }) =>
      spec?.volumeName ? String(status?.capacity?.["storage"] ?? "0") : "",
    ),
    column<PersistentVolumeClaim>("Access Modes", ({ spec, status }) =>
      spec?.volumeName ? accessModesCell(status?.accessModes) : "",
    ),
    column<PersistentVolumeClaim>(
      "StorageClass",
      ({ metadata, spec }) => metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "",
    ),
    column<PersistentVolumeClaim>("VolumeAttributesClass", ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>"),
    ageColumn,
    column<PersistentVolumeClaim>("VolumeMode", ({ spec }) => spec?.volumeMode ?? "<unset>", wide),
  ],
  subresources: { status: true },
  traits: { deletionReturnsObject: true, metadataChecks: { update: true, create: true } },
});
