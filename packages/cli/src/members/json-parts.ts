/** Reads parts of unvalidated objects: a value of an unexpected type counts as empty. Pure. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";

export const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
export const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
export const objectsOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
/** Numbers and booleans as written; empty for objects and lists. */
export const scalarText = (value: Json | undefined): string =>
  value === null || value === undefined || typeof value === "object" ? "" : String(value);
