/** Helpers for single fields of an aggregated status. */
import type { Json, JsonObject } from "@flotilla/base";

export const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** A field that no member reports is removed. */
export function putField(status: JsonObject, field: string, value: Json | undefined): void {
  if (isGiven(value)) status[field] = value;
  else delete status[field];
}
