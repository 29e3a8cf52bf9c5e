/** CSIDriver: the capabilities of a volume driver, and the information it requires. */
import { ageColumn, builtInKind, column, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { CSIDriver as CSIDriverFacts } from "@flotilla/apimachinery/facts/storage-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type CSIDriver = CSIDriverFacts;

export const CSIDriver: Kind<CSIDriver> = builtInKind<CSIDriver>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "CSIDriver",
  plural: "csidrivers",
  scope: "Cluster",
  facts: "storage-v1",
  columns: [
    nameColumn,
    column<CSIDriver>("AttachRequired", ({ spec }) => spec.attachRequired ?? true, { type: "boolean" }),
    column<CSIDriver>("PodInfoOnMount", ({ spec }) => spec.podInfoOnMount ?? false, { type: "boolean" }),
    column<CSIDriver>("StorageCapacity", ({ spec }) => spec.storageCapacity ?? false, { type: "boolean" }),
    column<CSIDriver>(
      "TokenRequests",
      ({ spec }) => spec.tokenRequests?.map(({ audience }) => audience).join(",") ?? "<unset>",
    ),
    column<CSIDriver>("RequiresRepublish", ({ spec }) => spec.requiresRepublish ?? false, { type: "boolean" }),
    column<CSIDriver>("Modes", ({ spec }) => spec.volumeLifecycleModes?.join(",") || "<none>"),
    ageColumn,
  ],
  hasGeneration: true,
  traits: { deletionReturnsObject: true, requiresVersion: true, lateGeneration: true },
});

export const csiDriver = defineKind({
  kind: CSIDriver,
  rules: [lazyAdmission(CSIDriver, "storage-v1", async () => (await import("./csi-rules.ts")).csiDriverRules)],
  example: exampleOf(CSIDriver, { spec: {} }),
});
