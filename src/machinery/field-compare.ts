/** What changed between two versions of an object, as sets of fields. Parts that both share are skipped at once. */
import { equalJson, isObject, setOwn, type Json, type JsonObject } from "../base/index.ts";
import { asRoot, isMember, makeFieldSet, unionOf, type FieldSet } from "./field-set.ts";
import { fieldSchema, indexList, shapeOf } from "./field-shape.ts";
import type { Schema } from "./schema.ts";

export interface FieldChanges {
  /** Added or given another value. */
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

const UNCHANGED: FieldChanges = { changed: undefined, removed: undefined };
const CHANGED: FieldChanges = { changed: makeFieldSet(undefined, true), removed: undefined };
const REMOVED: FieldChanges = { changed: undefined, removed: makeFieldSet(undefined, true) };

export function compareFields(before: JsonObject, after: JsonObject, schema: Schema): FieldChanges {
  const { changed, removed } = compareMaps(before, after, schema);
  return { changed: asRoot(changed), removed: asRoot(removed) };
}

function compareValues(before: Json | undefined, after: Json | undefined, schema: Schema | undefined): FieldChanges {
  if (before === after) return UNCHANGED;
  const inside = compareInside(before, after, schema);
  if (before === undefined) return { changed: asMember(inside.changed), removed: inside.removed };
  if (after === undefined) return { changed: inside.changed, removed: asMember(inside.removed) };
  return inside;
}

const asMember = (set: FieldSet | undefined): FieldSet | undefined => (set && isMember(set) ? set : makeFieldSet(set, true));

function compareInside(before: Json | undefined, after: Json | undefined, schema: Schema | undefined): FieldChanges {
  const shape = shapeOf(schema, after ?? before);
  if (shape === "leaf") return compareLeaves(before, after, schema);
  // Where one side is of another type, the other's parts come or go as a whole.
  if (shape === "map") {
    const [left, right] = [isObject(before) ? before : undefined, isObject(after) ? after : undefined];
    return isEmpty(left) && isEmpty(right) ? compareLeaves(before, after, schema) : compareMaps(left, right, schema);
  }
  const [left, right] = [Array.isArray(before) ? before : [], Array.isArray(after) ? after : []];
  return left.length === 0 && right.length === 0 ? compareLeaves(before, after, schema) : compareLists(shape, left, right, schema);
}

function isEmpty(map: JsonObject | undefined): boolean {
  for (const _key in map) return false;
  return true;
}

function compareLeaves(before: Json | undefined, after: Json | undefined, schema: Schema | undefined): FieldChanges {
  if (after === undefined) return REMOVED;
  if (before === undefined) return CHANGED;
  if (equalJson(before, after)) return UNCHANGED;
  // A map that became a scalar takes the fields in it along.
  const gone = shapeOf(schema, before) === "leaf" ? undefined : compareInside(before, undefined, schema).removed;
  return gone ? { changed: CHANGED.changed, removed: gone } : CHANGED;
}

function compareMaps(before: JsonObject | undefined, after: JsonObject | undefined, schema: Schema | undefined): FieldChanges {
  let changed: FieldSet | undefined;
  let removed: FieldSet | undefined;
  for (const key in after) {
    const left = before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined;
    const right = after[key];
    if (left === right) continue;
    const inside = compareValues(left, right, fieldSchema(schema, key));
    if (inside.changed) setOwn((changed ??= {}), `f:${key}`, inside.changed);
    if (inside.removed) setOwn((removed ??= {}), `f:${key}`, inside.removed);
  }
  for (const key in before) {
    if (after !== undefined && Object.hasOwn(after, key)) continue;
    const inside = compareValues(before[key], undefined, fieldSchema(schema, key));
    if (inside.removed) setOwn((removed ??= {}), `f:${key}`, inside.removed);
  }
  return changed || removed ? { changed, removed } : UNCHANGED;
}

function compareLists(shape: "set" | "list-map", before: readonly Json[], after: readonly Json[], schema: Schema | undefined): FieldChanges {
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
  // Elements that are there twice cannot be told apart: they are owned as one leaf, and what was owned inside is not any more.
  if (after.length >= 2) return { changed: CHANGED.changed, removed: before.length === 1 ? insideOf(compareValues(before[0], undefined, schema).removed) : undefined };
  if (after.length === 1) return { changed: unionOf(CHANGED.changed, compareValues(undefined, after[0], schema).changed), removed: undefined };
  return REMOVED;
}

/** Without the node itself, which is not removed but changed. */
const insideOf = (set: FieldSet | undefined): FieldSet | undefined => asRoot(set);
