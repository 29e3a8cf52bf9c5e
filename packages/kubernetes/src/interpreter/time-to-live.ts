/**
 * Kinds whose finished objects are deleted after a time. A member must not delete its copy: the copy would be created,
 * and run, again. So the field is removed from copies, and the hub deletes the template.
 */
import { type Json, type JsonObject, textOf } from "@flotilla/base";
import { conditionsIn } from "./joined-conditions.ts";

export interface TimeToLive {
  /** The field that is removed from copies. */
  readonly path: readonly string[];
  /** When a run ended, as its member reports it; undefined while it runs, or where the kind's controller never deletes it. */
  endedAt(status: JsonObject): string | undefined;
  /** How many seconds an object stays after its runs ended. Unset: the field is the number. */
  seconds?(field: Json, statuses: readonly JsonObject[]): number | undefined;
}

/** The transition time of the first condition of these types that is True. */
export function conditionTime(status: JsonObject, ...types: readonly string[]): string | undefined {
  const condition = conditionsIn(status).find(
    ({ type, status: value }) => value === "True" && types.some((each) => each === type),
  );
  return timeIn(condition, "lastTransitionTime");
}

/** A time of a status; undefined where it is unset. */
export const timeIn = (fields: JsonObject | undefined, name: string): string | undefined =>
  textOf(fields?.[name]) || undefined;
