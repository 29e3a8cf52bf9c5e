/**
 * Converts AdvancedCronJob between v1alpha1 and v1beta1. v1alpha1 has no image pulls: an object with such a template is
 * readable without it, and validation rejects an update that would remove it.
 */
import type { JsonObject } from "@flotilla/base";
import { changeObject, without } from "../api/conversion.ts";

const ONLY_BETA = "imageListPullJobTemplate";

/** The fields that v1alpha1 does not have. */
export const BETA_FIELDS = [`spec.template.${ONLY_BETA}`] as const;

/** v1alpha1 → v1beta1. */
export const toStorage = (object: JsonObject): JsonObject => ({ ...object, apiVersion: "apps.kruise.io/v1beta1" });

/** v1beta1 → v1alpha1. */
export const fromStorage = (object: JsonObject): JsonObject => ({
  ...changeObject(object, "spec", (spec) => changeObject(spec, "template", (template) => without(template, ONLY_BETA))),
  apiVersion: "apps.kruise.io/v1alpha1",
});
