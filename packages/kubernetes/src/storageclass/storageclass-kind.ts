/** StorageClass: how volumes are provisioned for claims. */
import { DEFAULT_STORAGE_CLASS_ANNOTATION } from "../well-known-names.ts";
import { type DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { StorageClass as StorageClassFacts } from "@flotilla/apimachinery/facts/storage-v1.ts";

export type StorageClass = StorageClassFacts;

type Read<T> = DeepReadonly<T>;

/** The class of claims that name none; the second annotation is the older name. */
export function isDefaultStorageClass({
  metadata: { annotations = {} },
}: Pick<Read<StorageClass>, "metadata">): boolean {
  return (
    annotations[DEFAULT_STORAGE_CLASS_ANNOTATION] === "true" ||
    annotations["storageclass.beta.kubernetes.io/is-default-class"] === "true"
  );
}

export const StorageClass: Kind<StorageClass> = builtInKind<StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  shortNames: ["sc"],
  scope: "Cluster",
  facts: "storage-v1",
  columns: [
    column<StorageClass>(
      "Name",
      (object) => (isDefaultStorageClass(object) ? `${object.metadata.name} (default)` : object.metadata.name),
      { format: "name" },
    ),
    column<StorageClass>("Provisioner", ({ provisioner }) => provisioner),
    column<StorageClass>("ReclaimPolicy", ({ reclaimPolicy = "Delete" }) => reclaimPolicy),
    column<StorageClass>("VolumeBindingMode", ({ volumeBindingMode = "Immediate" }) => volumeBindingMode),
    column<StorageClass>("AllowVolumeExpansion", ({ allowVolumeExpansion = false }) => allowVolumeExpansion),
    ageColumn,
  ],
  traits: { deletionReturnsObject: true, metadataChecks: { update: true, create: true } },
});
