/** Reads typed fields of a webhook response. `null` means absent, as in Go; a wrong type is a `WebhookError`. */
import { decodedPart } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { WebhookError } from "@flotilla/client";

const MAX_INT32 = 2 ** 31 - 1;

/** The value of a field, or undefined. Only own properties count: every object has `constructor`. */
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

/** A replica count. */
export function countOf(object: JsonObject, field: string, place: string): number | undefined {
  const value = fieldOf(object, field);
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > MAX_INT32)
    throw wrongType(`${place}.${field}`, `an integer from 0 to ${MAX_INT32}`);
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

/** The upstream types that responses contain, and the fact table of each. */
const TABLES = { LabelSelector: "meta-v1", ReplicaRequirements: "work-karmada-v1alpha2" } as const;

/** A field of such a type, decoded as Go does: nested values are type-checked, and quantities are canonical. */
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
      (problem) => new WebhookError("answer", `${place}.${field} is invalid: ${problem}`),
    )
  );
}
