/** Adds, replaces and removes labels or annotations. Only `add` creates keys; the others ignore missing ones. */
import type { LabelAnnotationOverrider } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { escapePointer, patchAt, valueAt } from "../json-pointer.ts";

type Overrider = DeepReadonly<LabelAnnotationOverrider>;

export function overrideLabels(object: JsonObject, overriders: readonly Overrider[]): JsonObject {
  return overrideEntries(object, "labels", overriders);
}

export function overrideAnnotations(object: JsonObject, overriders: readonly Overrider[]): JsonObject {
  return overrideEntries(object, "annotations", overriders);
}

function overrideEntries(
  object: JsonObject,
  field: "labels" | "annotations",
  overriders: readonly Overrider[],
): JsonObject {
  let result: Json = object;
  for (const { operator, value } of overriders) {
    for (const [key, text] of Object.entries(value ?? {})) {
      const entries: Json | undefined = valueAt(result, ["metadata", field]);
      const hasKey = isObject(entries) && Object.hasOwn(entries, key);
      if (operator === "add" && !isObject(entries)) result = patchAt(result, "add", `/metadata/${field}`, {});
      if (operator === "add" || hasKey)
        result = patchAt(result, operator, `/metadata/${field}/${escapePointer(key)}`, text);
    }
  }
  return result as JsonObject;
}
