/** Merges an applied configuration into the live object, and removes fields without an owner. */
import { isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";
import { childSet, isMember, type FieldSet } from "./field-set.ts";
import { elementOf, fieldElement, indexList, shapeOf } from "./field-shape.ts";
import { fieldSchema } from "../schema.ts";
import type { Schema } from "../schema.ts";

/** The live object with the applied one merged over it. Shares unchanged parts. */
export function mergeApplied(live: JsonObject, applied: JsonObject, schema: Schema): JsonObject {
  return mergeMaps(live, applied, schema);
}

function mergeValues(live: Json | undefined, applied: Json | undefined, schema: Schema | undefined): Json {
  if (applied === undefined) return live as Json;
  if (live === undefined) return applied;
  const shape = shapeOf(schema, applied ?? live);
  if (shape === "map") {
    // An applied null does not empty a non-empty map; fields that its applier owned are removed afterwards.
    if (applied === null) return isObject(live) && Object.keys(live).length > 0 ? live : null;
    return isObject(live) && isObject(applied) ? mergeMaps(live, applied, schema) : applied;
  }
  if (shape === "leaf") return applied;
  if (applied === null) return Array.isArray(live) && live.length > 0 ? live : null;
  return Array.isArray(live) && Array.isArray(applied) ? mergeLists(shape, live, applied, schema) : applied;
}

function mergeMaps(live: JsonObject, applied: JsonObject, schema: Schema | undefined): JsonObject {
  let result: JsonObject | undefined;
  for (const key in applied) {
    const before = Object.hasOwn(live, key) ? live[key] : undefined;
    const after = mergeValues(before, applied[key], fieldSchema(schema, key));
    if (after !== before) setOwn((result ??= { ...live }), key, after);
  }
  return result ?? live;
}

/**
 * Elements that only the live list has keep their place among the shared ones; elements of the configuration are in its
 * order.
 */
function mergeLists(
  shape: "set" | "list-map",
  live: readonly Json[],
  applied: readonly Json[],
  schema: Schema | undefined,
): Json[] {
  const elements = (list: readonly Json[]): string[] =>
    list.map((item, index) => elementOf(shape, schema, item, index));
  const liveOrder = elements(live);
  const appliedOrder = [...new Set(elements(applied))];
  const liveItems = indexList(shape, schema, live);
  const appliedItems = indexList(shape, schema, applied);
  const shared = appliedOrder.filter((element) => liveItems.has(element));
  const result: Json[] = [];
  const merged = new Set<string>();
  let nextShared = 0;
  const takeApplied = (element: string): void => {
    const same = liveItems.get(element) ?? [];
    result.push(mergeValues(same.length === 1 ? same[0] : undefined, appliedItems.get(element)?.[0], schema?.items));
    merged.add(element);
    if (shared[nextShared] === element) nextShared += 1;
  };
  let left = 0;
  let right = 0;
  while (left < liveOrder.length || right < appliedOrder.length) {
    const mine = liveOrder[left];
    const theirs = appliedOrder[right];
    if (mine !== undefined && mine === theirs) {
      takeApplied(mine);
      left += 1;
      right += 1;
    } else if (
      mine !== undefined &&
      theirs !== undefined &&
      appliedItems.has(mine) &&
      nextShared < shared.length &&
      shared[nextShared] !== mine
    ) {
      // The configuration moves this element; it is added at its position there.
      left += 1;
    } else if (mine !== undefined && !appliedItems.has(mine)) {
      result.push(live[left] as Json);
      left += 1;
    } else {
      if (mine !== undefined && merged.has(mine)) left += 1;
      if (theirs !== undefined) {
        takeApplied(theirs);
        right += 1;
      }
    }
  }
  return result;
}

/** The object without the members of `set`. A map or list that becomes empty is removed. */
export function removeFields(object: JsonObject, set: FieldSet | undefined, schema: Schema): JsonObject {
  return set === undefined ? object : ((removeFrom(object, set, schema) as JsonObject | undefined) ?? {});
}

function removeFrom(value: Json, set: FieldSet, schema: Schema | undefined): Json | undefined {
  const shape = shapeOf(schema, value);
  if (shape === "leaf") return value;
  if (shape === "map") return removeFromMap(value as JsonObject, set, schema);
  const list = value as Json[];
  if (list.length === 0) return list;
  const kept: Json[] = [];
  for (const [index, item] of list.entries()) {
    const below = childSet(set, elementOf(shape, schema, item, index));
    if (below === undefined) kept.push(item);
    else if (!isMember(below)) kept.push(removeFrom(item, below, schema?.items) ?? {});
  }
  return kept.length > 0 ? kept : undefined;
}

function removeFromMap(map: JsonObject, set: FieldSet, schema: Schema | undefined): Json | undefined {
  let result: JsonObject | undefined;
  for (const key in map) {
    const below = childSet(set, fieldElement(key));
    if (below === undefined) continue;
    const before = map[key] as Json;
    const after = isMember(below) ? undefined : removeFrom(before, below, fieldSchema(schema, key));
    if (after === before) continue;
    result ??= { ...map };
    if (after === undefined) Reflect.deleteProperty(result, key);
    else setOwn(result, key, after);
  }
  if (result === undefined) return map;
  for (const _key in result) return result;
  return undefined;
}
