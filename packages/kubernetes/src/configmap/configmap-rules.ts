/** Defaults and validation of ConfigMap. */
import { builtInAdmission, field } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { MAX_DATA_BYTES, checkDataKeys, checkImmutableData, encodedBytes, textBytes } from "./data-keys.ts";
import { ConfigMap } from "./configmap-kind.ts";

export const rules: AnyAdmission[] = [
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
