/** CSIStorageCapacity: the remaining capacity of a storage class for one part of the cluster. */
import { builtInKind, createdColumn, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { CSIStorageCapacity as CSIStorageCapacityFacts } from "@flotilla/apimachinery/facts/storage-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type CSIStorageCapacity = CSIStorageCapacityFacts;

export const CSIStorageCapacity: Kind<CSIStorageCapacity> = builtInKind<CSIStorageCapacity>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSIStorageCapacity",
  plural: "csistoragecapacities",
  scope: "Namespaced",
  facts: "storage-v1",
  columns: [nameColumn, createdColumn],
  traits: { requiresVersion: true, metadataChecks: { update: true, create: true } },
});

export const csiStorageCapacity = defineKind({
  kind: CSIStorageCapacity,
  rules: [
    lazyAdmission(
      CSIStorageCapacity,
      "storage-v1",
      async () => (await import("./csi-rules.ts")).csiStorageCapacityRules,
    ),
  ],
  example: exampleOf(CSIStorageCapacity, { storageClassName: "fast" }),
});
