/** Parts of JSON values that may have any type: a part of another type counts as absent. */
import { isObject } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const objectsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

/** The part at a key that may come from a hostile manifest: `__proto__` is a part only when it is an own key. */
export function ownOf(value: unknown, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
