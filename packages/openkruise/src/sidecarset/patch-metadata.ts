/**
 * `patchPodMetadata`: annotations that a set writes on its pods. `Retain` keeps existing values, `Overwrite` replaces
 * them, and `MergePatchJson` merges the values as JSON. Pure.
 */
import type { SidecarSetPatchPodMetadata } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { compareText, isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { goStructJson, sortedKeys } from "@flotilla/apimachinery";
import { SidecarError } from "./sidecarset-names.ts";
import type { StringMap } from "./sidecarset-names.ts";

/**
 * The patched annotations; the same object if nothing changes. Throws `SidecarError` for a value to merge that is not
 * JSON.
 */
export function patchAnnotations(
  annotations: StringMap,
  patches: readonly DeepReadonly<SidecarSetPatchPodMetadata>[] = [],
): StringMap {
  let result = annotations;
  for (const { annotations: wanted = {}, patchPolicy = "" } of patches) {
    for (const [key, value] of Object.entries(wanted)) {
      const before = Object.hasOwn(result, key) ? result[key] : undefined;
      const after = patched(before, value, patchPolicy);
      if (after !== undefined && after !== before) result = { ...result, [key]: after };
    }
  }
  return result;
}

function patched(before: string | undefined, value: string, policy: string): string | undefined {
  if (policy === "Overwrite") return value;
  if (policy === "MergePatchJson") return before ? mergeText(before, value) : value;
  return policy === "" || policy === "Retain" ? (before ?? value) : before;
}

function mergeText(text: string, patchText: string): string {
  const document = parse(text, "Invalid JSON Document");
  const patch = parse(patchText, "Invalid JSON Patch");
  if (document === null) throw new SidecarError("Invalid JSON Document");
  if (isObject(document) && isObject(patch)) return goStructJson(mergeObjects(document, patch));
  if (!isObject(patch) && !Array.isArray(patch)) throw new SidecarError("Invalid JSON Patch");
  return goStructJson(withoutNulls(patch));
}

function parse(text: string, problem: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) throw new SidecarError(problem);
    throw error;
  }
}

/** Merged keys are sorted; untouched keys keep their order. */
function mergeObjects(document: JsonObject, patch: JsonObject): JsonObject {
  const keys = new Set([...Object.keys(document), ...Object.keys(patch)]);
  const entries = [...keys].toSorted(compareText).flatMap((key): [string, Json][] => {
    const before = Object.hasOwn(document, key) ? document[key] : undefined;
    const change = Object.hasOwn(patch, key) ? patch[key] : undefined;
    if (change === undefined) return before === undefined ? [] : [[key, before]];
    if (change === null) return [];
    if (before === undefined || before === null || !isObject(before)) return [[key, withoutNulls(change)]];
    return [[key, isObject(change) ? mergeObjects(before, change) : change]];
  });
  return Object.fromEntries(entries);
}

/** The added part of a patch: nulls in objects are removed. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== null);
  return sortedKeys(Object.fromEntries(entries.map(([key, part]) => [key, withoutNulls(part)])));
}
