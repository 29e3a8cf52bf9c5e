/**
 * Reads fields of an answer as their types. `null` says the same as nothing, as it does to Go; a wrong type is a
 * `WebhookError`.
 */
import { decodedPart } from "../../api/index.ts";
import { isObject } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import { WebhookError } from "./webhook-error.ts";

const MAX_INT32 = 2 ** 31 - 1;

/** The value of a field, or undefined. Only own fields count: `constructor` is there on every object. */
export function fieldOf(object: JsonObject, field: string): Json | undefined {
  return Object.hasOwn(object, field) ? (object[field] ?? undefined) : undefined;
}

export function wrongType(place: string, wanted: string): WebhookError {
  return new WebhookError("answer", `${place} is not ${wanted}`);
}

export function textOf(object: JsonObject, field: string, place: string): string | undefined {
  const value = fieldOf(object, field);
  if (value !== undefined && typeof value !== "string") throw wrongType(`${place}.${field}`, "a text");
  return value;
}

/** A number of replicas. */
export function countOf(object: JsonObject, field: string, place: string): number | undefined {
  const value = fieldOf(object, field);
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > MAX_INT32)
    throw wrongType(`${place}.${field}`, `a whole number from 0 to ${MAX_INT32}`);
  return value;
}

export function objectOf(object: JsonObject, field: string, place: string): JsonObject | undefined {
  const value = fieldOf(object, field);
  if (value !== undefined && !isObject(value)) throw wrongType(`${place}.${field}`, "an object");
  return value;
}

/** A list whose items are all objects. */
export function objectsOf(object: JsonObject, field: string, place: string): JsonObject[] {
  const value = fieldOf(object, field) ?? [];
  if (!Array.isArray(value) || !value.every((item) => isObject(item) || item === null))
    throw wrongType(`${place}.${field}`, "a list of objects");
  return value.map((item) => (isObject(item) ? item : {}));
}

/** The types of other projects that answers have in them, and the fact table of each. */
const TABLES = { LabelSelector: "meta-v1", ReplicaRequirements: "work-karmada-v1alpha2" } as const;

/** A field of such a type, as Go reads it: everything inside has its type, and amounts have one form. */
export function partOf(
  type: keyof typeof TABLES,
  object: JsonObject,
  field: string,
  place: string,
): JsonObject | undefined {
  const value = objectOf(object, field, place);
  return (
    value &&
    decodedPart(
      TABLES[type],
      type,
      value,
      (problem) => new WebhookError("answer", `${place}.${field} cannot be read: ${problem}`),
    )
  );
}
