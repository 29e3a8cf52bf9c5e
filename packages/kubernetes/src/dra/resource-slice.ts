/** ResourceSlice: a subset of the devices that a driver offers on one or more nodes. */
import type { DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ResourceSlice as ResourceSliceFacts } from "@flotilla/apimachinery/facts/resource-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type ResourceSlice = ResourceSliceFacts;

type Read<T> = DeepReadonly<T>;

export const ResourceSlice: Kind<ResourceSlice> = builtInKind<ResourceSlice>({
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceSlice",
  plural: "resourceslices",
  scope: "Cluster",
  facts: "resource-v1",
  columns: [
    nameColumn,
    column<ResourceSlice>("Node", ({ spec }) => spec.nodeName ?? ""),
    column<ResourceSlice>("Driver", ({ spec }) => spec.driver ?? ""),
    column<ResourceSlice>("Pool", ({ spec }) => spec.pool?.name ?? ""),
    ageColumn,
  ],
  hasGeneration: true,
  traits: {
    deletionReturnsObject: true,
    selectableFields: {
      "spec.nodeName": (object) => (object as Read<ResourceSlice>).spec.nodeName ?? "",
      "spec.driver": (object) => (object as Read<ResourceSlice>).spec.driver ?? "",
    },
  },
});

export const resourceSlice = defineKind({
  kind: ResourceSlice,
  rules: [
    lazyAdmission(ResourceSlice, "resource-v1", async () => (await import("./device-rules.ts")).resourceSliceRules),
  ],
  example: exampleOf(ResourceSlice, {
    spec: { driver: "gpu.example.com", pool: { name: "a", generation: 1, resourceSliceCount: 1 }, nodeName: "node-1" },
  }),
});
