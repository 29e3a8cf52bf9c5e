/** ConfigMap: configuration that pods read. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ConfigMap as ConfigMapFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type ConfigMap = ConfigMapFacts;

export const ConfigMap: Kind<ConfigMap> = builtInKind<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  shortNames: ["cm"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<ConfigMap>(
      "Data",
      ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length,
    ),
    ageColumn,
  ],
  traits: { metadataChecks: { update: true, create: true } },
});
