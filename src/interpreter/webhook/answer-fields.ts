/** Reads fields of an answer as their types. `null` says the same as nothing, as it does to Go; a wrong type is a `WebhookError`. */
import { isObject } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import { WebhookError } from "./webhook-error.ts";

export const MAX_INT32 = 2 ** 31 - 1;

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
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > MAX_INT32) throw wrongType(`${place}.${field}`, `a whole number from 0 to ${MAX_INT32}`);
  return value;
}

export function objectOf(object: JsonObject, field: string, place: string): JsonObject | undefined {
  const value = fieldOf(object, field);
  if (value !== undefined && !isObject(value)) throw wrongType(`${place}.${field}`, "an object");
  return value;
}

/** An object whose values are all texts. */
export function textsOf(object: JsonObject, field: string, place: string): Record<string, string> | undefined {
  const value = objectOf(object, field, place);
  if (value && !Object.values(value).every((item) => typeof item === "string")) throw wrongType(`${place}.${field}`, "a map of texts");
  return value as Record<string, string> | undefined;
}

export function objectsOf(object: JsonObject, field: string, place: string): JsonObject[] | undefined {
  const value = fieldOf(object, field);
  if (value !== undefined && !(Array.isArray(value) && value.every(isObject))) throw wrongType(`${place}.${field}`, "a list of objects");
  return value;
}
