/**
 * Advanced StatefulSet v1alpha1 and v1beta1. Everything that v1alpha1 says is in v1beta1 too; what v1beta1 adds is lost
 * when an object is written as v1alpha1.
 */
import type { JsonObject } from "../../base/index.ts";
import { changeObject, without } from "./conversion.ts";

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
