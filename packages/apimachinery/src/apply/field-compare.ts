/** Computes the changes between two versions of an object as field sets. Shared parts are skipped immediately. */
import { equalJson, isObject, setOwn, type Json, type JsonObject, isWithoutKeys } from "@flotilla/base";
import { asRoot, MEMBER, SELF, unionOf, type FieldSet } from "./field-set.ts";
import { elementOf, fieldElement, indexList, shapeOf } from "./field-shape.ts";
import { fieldSchema } from "../schema.ts";
import type { Schema } from "../schema.ts";

export interface FieldChanges {
  /** Added or changed. */
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

const UNCHANGED: FieldChanges = { changed: undefined, removed: undefined };
const CHANGED: FieldChanges = { changed: MEMBER, removed: undefined };
const REMOVED: FieldChanges = { changed: undefined, removed: MEMBER };

export function compareFields(before: JsonObject, after: JsonObject, schema: Schema): FieldChanges {
  const { changed, removed } = compareMaps(before, after, schema);
  return { changed: asRoot(changed), removed: asRoot(removed) };
}

function compareValues(before: Json | undefined, after: Json | undefined, schema: Schema | undefined): FieldChanges {
  if (before === after) return UNCHANGED;
  if (before === undefined) return { changed: allFields(after as Json, schema), removed: undefined };
  if (after === undefined) return { changed: undefined, removed: allFields(before, schema) };
  return compareInside(before, after, schema);
}

/** The fields that are added or removed with a value: itself and everything in it. */
function allFields(value: Json, schema: Schema | undefined): FieldSet {
  const shape = shapeOf(schema, value);
  if (shape === "leaf") return MEMBER;
  return shape === "map" ? allOfMap(value as JsonObject, schema) : allOfList(shape, value as Json[], schema);
}

function allOfMap(map: JsonObject, schema: Schema | undefined): FieldSet {
  let fields: FieldSet | undefined;
  // In the order in which sets are written, so that they need no sorting afterwards.
  for (const key of inTextOrder(Object.keys(map))) {
    const value = map[key];
    if (value !== undefined)
      setOwn((fields ??= { [SELF]: MEMBER }), fieldElement(key), allFields(value, fieldSchema(schema, key)));
  }
  if (schema && fields)
    for (const name of alwaysThere(schema)) if (!Object.hasOwn(map, name)) setOwn(fields, fieldElement(name), MEMBER);
  return fields ?? MEMBER;
}

/** Beyond this many `sort` is faster. */
const FEW_KEYS = 24;

/** Sorts in place. Maps have few keys, and V8 allocates half a kilobyte to sort even one. */
function inTextOrder(keys: string[]): string[] {
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let end = 1; end < keys.length; end++) {
    const key = keys[end] as string;
    let at = end;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}

const alwaysNames = new WeakMap<Schema, readonly string[]>();

/**
 * Fields that the real server writes as null when they are not set, such as times: they exist whenever their structure
 * does.
 */
function alwaysThere(schema: Schema): readonly string[] {
  let names = alwaysNames.get(schema);
  if (!names) {
    names = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      property["x-flotilla-always"] === true && property.type === "string" && property.format === "date-time"
        ? [name]
        : [],
    );
    alwaysNames.set(schema, names);
  }
  return names;
}

function allOfList(shape: "set" | "list-map", list: readonly Json[], schema: Schema | undefined): FieldSet {
  if (list.length === 0) return MEMBER;
  const fields: FieldSet = { [SELF]: MEMBER };
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as Json;
    const element = elementOf(shape, schema, item, index);
    // Duplicate elements cannot be distinguished: they are one leaf.
    setOwn(fields, element, Object.hasOwn(fields, element) ? MEMBER : allFields(item, schema?.items));
  }
  return fields;
}

function compareInside(before: Json | undefined, after: Json | undefined, schema: Schema | undefined): FieldChanges {
  const shape = shapeOf(schema, after ?? before);
  if (shape === "leaf") return compareLeaves(before, after, schema);
  // Where one side has another type, the other's parts are added or removed as a whole.
  if (shape === "map") {
    const [left, right] = [isObject(before) ? before : undefined, isObject(after) ? after : undefined];
    return isWithoutKeys(left) && isWithoutKeys(right)
      ? compareLeaves(before, after, schema)
      : compareMaps(left, right, schema);
  }
  const [left, right] = [Array.isArray(before) ? before : [], Array.isArray(after) ? after : []];
  return left.length === 0 && right.length === 0
    ? compareLeaves(before, after, schema)
    : compareLists(shape, left, right, schema);
}

function compareLeaves(before: Json | undefined, after: Json | undefined, schema: Schema | undefined): FieldChanges {
  if (after === undefined) return REMOVED;
  if (before === undefined) return CHANGED;
  if (equalJson(before, after)) return UNCHANGED;
  // A map that became a scalar loses the fields in it.
  const gone = shapeOf(schema, before) === "leaf" ? undefined : compareInside(before, undefined, schema).removed;
  return gone ? { changed: CHANGED.changed, removed: gone } : CHANGED;
}

function compareMaps(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  schema: Schema | undefined,
): FieldChanges {
  let changed: FieldSet | undefined;
  let removed: FieldSet | undefined;
  // Not `for in`: V8 keeps compiling and discarding a rarely reached `before[key]` in such a loop.
  for (const key of keysOf(after)) {
    const left = before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined;
    const right = (after as JsonObject)[key];
    if (left === right) continue;
    const inside = compareValues(left, right, fieldSchema(schema, key));
    if (inside.changed) setOwn((changed ??= {}), fieldElement(key), inside.changed);
    if (inside.removed) setOwn((removed ??= {}), fieldElement(key), inside.removed);
  }
  for (const key of keysOf(before)) {
    if (after !== undefined && Object.hasOwn(after, key)) continue;
    const inside = compareValues((before as JsonObject)[key], undefined, fieldSchema(schema, key));
    if (inside.removed) setOwn((removed ??= {}), fieldElement(key), inside.removed);
  }
  return changed || removed ? { changed, removed } : UNCHANGED;
}

const keysOf = (map: JsonObject | undefined): readonly string[] => (map === undefined ? NO_KEYS : Object.keys(map));
const NO_KEYS: readonly string[] = [];

function compareLists(
  shape: "set" | "list-map",
  before: readonly Json[],
  after: readonly Json[],
  schema: Schema | undefined,
): FieldChanges {
  const left = indexList(shape, schema, before);
  const right = indexList(shape, schema, after);
  let changed: FieldSet | undefined;
  let removed: FieldSet | undefined;
  for (const [element, items] of right) {
    const inside = compareElements(left.get(element) ?? NO_ITEMS, items, schema?.items);
    if (inside.changed) setOwn((changed ??= {}), element, inside.changed);
    if (inside.removed) setOwn((removed ??= {}), element, inside.removed);
  }
  for (const [element, items] of left) {
    if (right.has(element)) continue;
    const gone = compareElements(items, NO_ITEMS, schema?.items).removed;
    if (gone) setOwn((removed ??= {}), element, gone);
  }
  return { changed, removed };
}

const NO_ITEMS: readonly Json[] = [];

function compareElements(before: readonly Json[], after: readonly Json[], schema: Schema | undefined): FieldChanges {
  if (before.length <= 1 && after.length <= 1) return compareValues(before[0], after[0], schema);
  if (equalJson(before, after)) return UNCHANGED;
  // Duplicate elements cannot be distinguished: they are owned as one leaf, and the ownership of fields inside them
  // ends.
  if (after.length >= 2)
    return {
      changed: CHANGED.changed,
      removed: before.length === 1 ? insideOf(compareValues(before[0], undefined, schema).removed) : undefined,
    };
  if (after.length === 1)
    return {
      changed: unionOf(CHANGED.changed, compareValues(undefined, after[0], schema).changed),
      removed: undefined,
    };
  return REMOVED;
}

/** Without the node itself, which is changed and not removed. */
const insideOf = (set: FieldSet | undefined): FieldSet | undefined => asRoot(set);
