/**
 * The state of an object before it is created, for ownership. A custom resource is empty; an object of a built-in kind
 * already has its structures, because the real server keeps it as a struct whose required or defaulted parts always
 * exist.
 */
import type { Json, JsonObject } from "@flotilla/base";
import type { Schema } from "../schema.ts";

const empties = new WeakMap<Schema, JsonObject>();
const NOTHING: JsonObject = Object.freeze({});
/** Stops structures that contain themselves through always-present fields; none is this deep. */
const MAX_DEPTH = 16;

export function emptyObject(schema: Schema, builtIn: boolean): JsonObject {
  if (!builtIn) return NOTHING;
  let empty = empties.get(schema);
  if (!empty) empties.set(schema, (empty = { metadata: {}, ...emptyStructure(schema, 0) }));
  return empty;
}

function emptyStructure(schema: Schema, depth: number): JsonObject {
  const empty: JsonObject = {};
  if (depth > MAX_DEPTH) return empty;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property["x-flotilla-always"] !== true) continue;
    empty[name] = property.properties === undefined ? zeroOf(property) : emptyStructure(property, depth + 1);
  }
  return empty;
}

/** Strings, numbers and booleans that are always written have their zero value; lists, maps and times are null. */
function zeroOf({ type, format }: Schema): Json {
  if (type === "string") return format === "date-time" ? null : "";
  if (type === "integer" || type === "number") return 0;
  return type === "boolean" ? false : null;
}
