/** Single fields of a status that is being put together. */
import type { Json, JsonObject } from "../../base/index.ts";

export const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** What no member reports is not shown, also if it was before. */
export function putField(status: JsonObject, field: string, value: Json | undefined): void {
  if (isGiven(value)) status[field] = value;
  else delete status[field];
}
