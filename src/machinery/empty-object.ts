/**
 * What an object is before it is created, as ownership sees it. A custom resource is nothing; an object of a built-in kind has
 * its structures already, because the real server keeps it as a struct whose required or defaulted parts are always there.
 */
import type { JsonObject } from "../base/index.ts";
import { isObject } from "../base/index.ts";
import type { Schema } from "./schema.ts";

const empties = new WeakMap<Schema, JsonObject>();
const NOTHING: JsonObject = Object.freeze({});
/** A structure that contains itself through required fields ends here; none is this deep. */
const MAX_DEPTH = 16;

export function emptyObject(schema: Schema, builtIn: boolean): JsonObject {
  if (!builtIn) return NOTHING;
  let empty = empties.get(schema);
  if (!empty) {
    empty = emptyStructure(schema, 0);
    for (const part of ["metadata", "spec", "status"]) {
      const property = schema.properties?.[part];
      if (property?.properties) empty[part] ??= emptyStructure(property, 1);
    }
    empties.set(schema, empty);
  }
  return empty;
}

function emptyStructure(schema: Schema, depth: number): JsonObject {
  const empty: JsonObject = {};
  if (depth > MAX_DEPTH) return empty;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const always = schema.required?.includes(name) === true || (isObject(property.default) && Object.keys(property.default).length === 0);
    if (!always) continue;
    if (property.properties && property["x-kubernetes-map-type"] !== "atomic") empty[name] = emptyStructure(property, depth + 1);
    else if (property.type === "array" || property.type === "object") empty[name] = null;
  }
  return empty;
}
