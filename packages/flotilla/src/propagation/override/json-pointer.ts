/** Reads by JSON pointer, and patches a single path. */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import { ApiError, applyJsonPatch } from "@flotilla/apimachinery";
import { OverrideError } from "./override-error.ts";

export type PatchOperator = "add" | "remove" | "replace";

/** A key as a part of a JSON pointer. */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

export function splitPointer(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at these path segments; undefined when the path does not exist. */
export function valueAt(document: Json, parts: readonly string[]): Json | undefined {
  let value: Json | undefined = document;
  for (const part of parts) {
    if (Array.isArray(value)) value = /^\d+$/.test(part) ? value[Number(part)] : undefined;
    else if (isObject(value)) value = Object.hasOwn(value, part) ? value[part] : undefined;
    else return undefined;
  }
  return value;
}

/**
 * One operation of a JSON patch. The input is not modified. Replacing a missing path is an error: an API server's patch
 * would add it, and an override meant for another object would remain unnoticed.
 */
export function patchAt(document: Json, operator: PatchOperator, path: string, value: Json | undefined): Json {
  if (operator === "replace" && path !== "" && valueAt(document, splitPointer(path)) === undefined)
    throw new OverrideError(`cannot replace ${path}: the object has no such path`);
  const operation: JsonObject =
    operator === "remove" ? { op: operator, path } : { op: operator, path, value: value ?? null };
  try {
    return applyJsonPatch(document, [operation]);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const place = path || "the whole object";
    const why = explain(document, operator, path);
    throw why
      ? new OverrideError(`cannot ${operator} ${place}: ${why}`)
      : new OverrideError(`cannot ${operator} ${place}`, { cause: error });
  }
}

/** Explains common mistakes; the patch itself only reports that it failed. */
function explain(document: Json, operator: PatchOperator, path: string): string | undefined {
  if (path !== "" && !path.startsWith("/")) return "a path must start with a slash";
  const parts = splitPointer(path);
  if (operator === "remove" && valueAt(document, parts) === undefined) return "the object has no such path";
  const parent = valueAt(document, parts.slice(0, -1));
  if (parent === undefined) return `the object has nothing at ${path.slice(0, path.lastIndexOf("/"))}`;
  return Array.isArray(parent) ? "the list has no such index" : undefined;
}
