/** ConfigMap: configuration that pods read. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { ageColumn, column, nameColumn } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { ConfigMap as ConfigMapFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { field } from "@flotilla/apimachinery";
import { MAX_DATA_BYTES, checkDataKeys, checkImmutableData, encodedBytes, textBytes } from "./data-keys.ts";

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

export const admissions: AnyAdmission[] = [
  builtInAdmission(ConfigMap, "core-v1", {
    validate({ object, oldObject }) {
      const { data, binaryData } = object;
      return [
        ...checkImmutableData(object, oldObject),
        ...checkDataKeys("data", data, binaryData),
        ...checkDataKeys("binaryData", binaryData),
        // The real server names no field here and prints `[]`.
        ...(textBytes(data) + encodedBytes(binaryData) > MAX_DATA_BYTES ? [field.tooLong("[]", MAX_DATA_BYTES)] : []),
      ];
    },
  }),
];
