/** PersistentVolume: storage that outlives pods, created by administrators or provisioners. */
import { ageColumn, builtInKind, column, nameColumn, wide } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { PersistentVolume as PersistentVolumeFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import { STORAGE_CLASS_ANNOTATION } from "../storageclass/storageclass-rules.ts";
import { accessModesCell } from "../storage/access-modes.ts";

export type PersistentVolume = PersistentVolumeFacts;

export const PersistentVolume: Kind<PersistentVolume> = builtInKind<PersistentVolume>({
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  shortNames: ["pv"],
  scope: "Cluster",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<PersistentVolume>("Capacity", ({ spec }) => String(spec?.capacity?.["storage"] ?? "0")),
    column<PersistentVolume>("Access Modes", ({ spec }) => accessModesCell(spec?.accessModes)),
    column<PersistentVolume>("Reclaim Policy", ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? ""),
    column<PersistentVolume>("Status", ({ metadata, status }) =>
      metadata.deletionTimestamp ? "Terminating" : (status?.phase ?? ""),
    ),
    column<PersistentVolume>("Claim", ({ spec }) =>
      spec?.claimRef ? `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}` : "",
    ),
    column<PersistentVolume>(
      "StorageClass",
      ({ metadata, spec }) => metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "",
    ),
    column<PersistentVolume>("VolumeAttributesClass", ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>"),
    column<PersistentVolume>("Reason", ({ status }) => status?.reason ?? ""),
    ageColumn,
    column<PersistentVolume>("VolumeMode", ({ spec }) => spec?.volumeMode ?? "<unset>", wide),
  ],
  subresources: { status: true },
  traits: { deletionReturnsObject: true, metadataChecks: { create: true } },
});
