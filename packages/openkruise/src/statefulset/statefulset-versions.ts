/**
 * Converts Advanced StatefulSet between v1alpha1 and v1beta1. v1beta1 has all fields of v1alpha1; its additional fields
 * are lost when an object is written as v1alpha1.
 */
import type { JsonObject } from "@flotilla/base";
import { changeObject, without } from "../api/conversion.ts";

export const toStorage = (object: JsonObject): JsonObject => ({ ...object, apiVersion: "apps.kruise.io/v1beta1" });

export function fromStorage(object: JsonObject): JsonObject {
  const alpha = { ...object, apiVersion: "apps.kruise.io/v1alpha1" };
  const spec = changeObject(alpha, "spec", (value) =>
    without(
      value,
      "volumeClaimUpdateStrategy",
      "reserveOrdinals",
      "lifecycle",
      "scaleStrategy",
      "persistentVolumeClaimRetentionPolicy",
      "ordinals",
    ),
  );
  return changeObject(spec, "status", (value) =>
    without(value, "updatedReadyReplicas", "updatedAvailableReplicas", "volumeClaims"),
  );
}
