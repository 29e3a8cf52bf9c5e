/** The paths of the fields behind a kind's scale, such as `.spec.replicas`. These paths contain only fields. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";

export function pathParts(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

export function valueAt(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const part of pathParts(path)) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value;
}

export function withValueAt(object: JsonObject, [first = "", ...rest]: readonly string[], value: Json): JsonObject {
  if (rest.length === 0) return { ...object, [first]: value };
  const inner = object[first];
  return { ...object, [first]: withValueAt(isObject(inner) ? inner : {}, rest, value) };
}
