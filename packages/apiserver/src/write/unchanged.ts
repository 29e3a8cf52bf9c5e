/** Whether an update would store the current state: then nothing is written, and watchers are not notified. */
import { equalJson, isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { metadataOf } from "../codec/metadata.ts";

/**
 * The time of a field manager is not a change by itself: repeating the same request later writes nothing. Managers that
 * were recorded for a change are in the order of their times.
 */
export function changesNothing(old: JsonObject, next: JsonObject, managers?: "any order"): boolean {
  const { resourceVersion: _version, managedFields: oldFields, ...oldMetadata } = metadataOf(old);
  const { managedFields: nextFields, ...nextMetadata } = metadataOf(next);
  return (
    equalJson({ ...old, metadata: oldMetadata }, { ...next, metadata: nextMetadata }) &&
    (oldFields === nextFields || equalJson(comparable(oldFields), comparable(nextFields)))
  );

  function comparable(managedFields: Json | undefined): Json | undefined {
    const entries = withoutTimes(managedFields);
    return managers === "any order" && Array.isArray(entries)
      ? entries.map((entry) => JSON.stringify(entry)).sort()
      : entries;
  }
}

function withoutTimes(managedFields: Json | undefined): Json | undefined {
  if (!Array.isArray(managedFields)) return managedFields;
  return managedFields.map((entry) => {
    if (!isObject(entry)) return entry;
    const { time: _, ...rest } = entry;
    return rest;
  });
}
