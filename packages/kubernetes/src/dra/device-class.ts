/** DeviceClass: a class of devices, selected by CEL expressions, with driver configuration. */
import { ageColumn, builtInKind, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { DeviceClass as DeviceClassFacts } from "@flotilla/apimachinery/facts/resource-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type DeviceClass = DeviceClassFacts;

export const DeviceClass: Kind<DeviceClass> = builtInKind<DeviceClass>({
  group: "resource.k8s.io",
  version: "v1",
  kind: "DeviceClass",
  plural: "deviceclasses",
  scope: "Cluster",
  facts: "resource-v1",
  columns: [nameColumn, ageColumn],
  hasGeneration: true,
  traits: { deletionReturnsObject: true, metadataChecks: { update: true, create: true } },
});

export const deviceClass = defineKind({
  kind: DeviceClass,
  rules: [lazyAdmission(DeviceClass, "resource-v1", async () => (await import("./device-rules.ts")).deviceClassRules)],
  example: exampleOf(DeviceClass, { spec: {} }),
});
