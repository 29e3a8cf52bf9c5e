/** The field set of a configuration, which its applier owns. */
import { setOwn, type Json, type JsonObject } from "@flotilla/base";
import { asRoot, isMember, makeFieldSet, type FieldSet } from "./field-set.ts";
import { elementOf, elementSchema, fieldElement, isNamedField, shapeOf } from "./field-shape.ts";
import { fieldSchema } from "../schema.ts";
import type { Schema } from "../schema.ts";

/**
 * The set of an object. Leaves, elements of lists and keys of maps are members; a structure is a member only when it is
 * empty.
 */
export function fieldSetOf(object: JsonObject, schema: Schema): FieldSet | undefined {
  return asRoot(setOfMap(object, schema));
}

function setOf(value: Json, schema: Schema | undefined): FieldSet | undefined {
  const shape = shapeOf(schema, value);
  if (shape === "leaf") return makeFieldSet(undefined, true);
  if (shape === "map") return setOfMap(value as JsonObject, schema);
  let children: FieldSet | undefined;
  for (const [index, item] of (value as Json[]).entries())
    setOwn((children ??= {}), elementOf(shape, schema, item, index), asMember(setOf(item, schema?.items)));
  return children;
}

function setOfMap(map: JsonObject, schema: Schema | undefined): FieldSet | undefined {
  let children: FieldSet | undefined;
  for (const key in map) {
    const below = setOf(map[key] as Json, fieldSchema(schema, key));
    const child = isNamedField(schema, key) ? below : asMember(below);
    if (child) setOwn((children ??= {}), fieldElement(key), child);
  }
  return children ?? makeFieldSet(undefined, true);
}

const asMember = (set: FieldSet | undefined): FieldSet | undefined =>
  set && isMember(set) ? set : makeFieldSet(set, true);

/** Adds the enclosing structures of each member as members, so that they can be removed and kept as a whole. */
export function withNamedFields(set: FieldSet | undefined, schema: Schema | undefined): FieldSet | undefined {
  if (set === undefined) return undefined;
  const result: FieldSet = {};
  for (const key in set) {
    if (key === ".") {
      result[key] = set[key] as FieldSet;
      continue;
    }
    const child = withNamedFields(set[key] as FieldSet, elementSchema(schema, key)) as FieldSet;
    setOwn(result, key, key.startsWith("f:") && isNamedField(schema, key.slice(2)) ? asMember(child) : child);
  }
  return result;
}
