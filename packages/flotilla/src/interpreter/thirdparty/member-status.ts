/**
 * Shared parts of status aggregation for third-party kinds: one member's status unchanged, conditions, non-empty
 * fields.
 */
import { equalJson, isObject, setOwn, type Json, type JsonObject, textOf } from "@flotilla/base";
import type { StatusItem, WithStatus } from "@flotilla/kubernetes";

/** The template with another status, or itself when the status is the same. An absent status counts as empty. */
export function putStatus<T extends WithStatus>(template: T, status: JsonObject): T {
  return equalJson(status, template.status ?? {}) ? template : { ...template, status };
}

/** A member's status unchanged, used for a template that runs on no other member. */
export function wholeStatus({ status }: Pick<StatusItem, "status">): JsonObject {
  if (!isObject(status)) return {};
  const { conditions } = status;
  return Array.isArray(conditions) && conditions.some(isEmpty)
    ? { ...status, conditions: conditionsIn(status) }
    : status;
}

/** The conditions of a status, without empty ones. */
export function conditionsIn(status: JsonObject): JsonObject[] {
  const { conditions } = status;
  if (!Array.isArray(conditions)) return [];
  return conditions.filter((condition) => isObject(condition) && !isEmpty(condition)) as JsonObject[];
}

export const isTrue = (condition: JsonObject, type: string): boolean =>
  condition["type"] === type && condition["status"] === "True";

/**
 * The earlier of two times as the API writes them, all in UTC and with the same precision, so that text order is time
 * order.
 */
export function earlierOf(time: string, other: Json | undefined): string {
  const text = textOf(other);
  return text !== "" && (time === "" || text < time) ? text : time;
}

export function laterOf(time: string, other: Json | undefined): string {
  const text = textOf(other);
  return text > time ? text : time;
}

/** Drops empty values: zeros, empty strings, and lists and objects in which nothing is left. */
export function nonEmpty(status: JsonObject): JsonObject {
  const part = nonEmptyPart(status);
  return isObject(part) ? part : {};
}

function nonEmptyPart(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    const items = value.map(nonEmptyPart).filter((item) => item !== undefined);
    return items.length > 0 ? items : undefined;
  }
  if (!isObject(value)) return value === null || value === 0 || value === "" ? undefined : value;
  let part: JsonObject | undefined;
  for (const key of Object.keys(value)) {
    const kept = nonEmptyPart(value[key] ?? null);
    if (kept !== undefined) setOwn((part ??= {}), key, kept);
  }
  return part;
}

/** Called for every condition of every member, so no list of keys is allocated. */
function isEmpty(value: Json): boolean {
  if (!isObject(value)) return false;
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}
