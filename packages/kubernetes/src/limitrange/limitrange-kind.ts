/** LimitRange: bounds and defaults for the resources of a pod, container or claim in a namespace. */
import { builtInKind, createdColumn, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { LimitRange as LimitRangeFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type LimitRange = LimitRangeFacts;

export const LimitRange: Kind<LimitRange> = builtInKind<LimitRange>({
  group: "",
  version: "v1",
  kind: "LimitRange",
  plural: "limitranges",
  shortNames: ["limits"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [nameColumn, createdColumn],
  traits: { createOnUpdate: true, metadataChecks: { create: true } },
});
