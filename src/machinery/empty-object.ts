/**
 * What an object is before it is created, as ownership sees it. A custom resource is nothing; an object of a built-in kind has
 * its structures already, because the real server keeps it as a struct whose required or defaulted parts are always there.
 */
import type { JsonObject } from "../base/index.ts";
import type { Schema } from "./schema.ts";

const empties = new WeakMap<Schema, JsonObject>();
const NOTHING: JsonObject = Object.freeze({});
/** A structure that contains itself through fields that are always there ends here; none is this deep. */
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
    // Structures are there and empty; lists, maps and what is owned as a whole are null.
    const isStructure = property.properties !== undefined && property["x-kubernetes-map-type"] !== "atomic";
    empty[name] = isStructure ? emptyStructure(property, depth + 1) : null;
  }
  return empty;
}
