/** Whether an update would store what is stored already: then nothing is written, and nobody is told. */
import { equalJson, isObject } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import { metadataOf } from "./metadata.ts";

/** When a field was last set is no change by itself: who repeats what is there writes nothing, a second later too. */
export function changesNothing(old: JsonObject, next: JsonObject): boolean {
  const { resourceVersion: _version, managedFields: oldFields, ...oldMetadata } = metadataOf(old);
  const { managedFields: nextFields, ...nextMetadata } = metadataOf(next);
  return (
    equalJson({ ...old, metadata: oldMetadata }, { ...next, metadata: nextMetadata }) &&
    (oldFields === nextFields || equalJson(withoutTimes(oldFields), withoutTimes(nextFields)))
  );
}

function withoutTimes(managedFields: Json | undefined): Json | undefined {
  if (!Array.isArray(managedFields)) return managedFields;
  return managedFields.map((entry) => {
    if (!isObject(entry)) return entry;
    const { time: _, ...rest } = entry;
    return rest;
  });
}
