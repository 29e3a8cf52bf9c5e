/**
 * Makes an object that a client sent share its parts with the stored object. An update repeats most of the object, and
 * the following steps (defaulting, validation, field managers, the comparison with the old object) skip identical
 * parts.
 */
import { isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";

/**
 * A copy of `value` in which every part that equals the part of `known` at the same path is that part; `known` itself
 * when everything is equal. No part of `value` is kept. Key order has no meaning, so a shared part has the order of
 * `known`. As in JSON, undefined keys are omitted.
 */
export function copySharing(value: Json, known: Json | undefined): Json {
  if (typeof value !== "object" || value === null || value === known) return value;
  if (Array.isArray(value)) return copyList(value, Array.isArray(known) ? known : undefined);
  return copyMap(value, isObject(known) ? known : undefined);
}

/** `value` as JSON carries it: without keys that are undefined. `value` itself when it has none, which is the rule. */
export function withoutUndefined(value: Json): Json {
  return hasUndefined(value) ? copySharing(value, undefined) : value;
}

function hasUndefined(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasUndefined);
  for (const key in value) if (value[key] === undefined || hasUndefined(value[key])) return true;
  return false;
}

function copyList(list: readonly Json[], known: Json[] | undefined): Json[] {
  // A list that grows item by item reserves room for sixteen more, and most lists have one or two.
  let result: Json[] | undefined = known?.length === list.length ? undefined : list.slice();
  for (let index = 0; index < list.length; index++) {
    const before = known?.[index];
    const item = copySharing(list[index] ?? null, before);
    if (result) result[index] = item;
    // Everything was equal so far.
    else if (item !== before) (result = (known as Json[]).slice())[index] = item;
  }
  return result ?? (known as Json[]);
}

function copyMap(map: JsonObject, known: JsonObject | undefined): JsonObject {
  let result: JsonObject | undefined = known ? undefined : {};
  let same = 0;
  // Not `for in`: V8 keeps compiling and discarding a rarely reached `map[key]` in such a loop.
  for (const key of Object.keys(map)) {
    const given = map[key];
    if (given === undefined) continue;
    const before = known && partOf(known, key);
    const item = copySharing(given, before);
    if (result === undefined) {
      if (item === before) {
        same++;
        continue;
      }
      // Everything was equal so far.
      result = pick(map, known as JsonObject, key);
    }
    setOwn(result, key, item);
  }
  if (result) return result;
  return same === sizeOf(known as JsonObject) ? (known as JsonObject) : pick(map, known as JsonObject);
}

/** The parts of `known` at the keys of `map`, up to the key `end`. */
function pick(map: JsonObject, known: JsonObject, end?: string): JsonObject {
  const result: JsonObject = {};
  for (const key in map) {
    if (key === end) break;
    if (map[key] !== undefined) setOwn(result, key, partOf(known, key));
  }
  return result;
}

function sizeOf(map: JsonObject): number {
  let size = 0;
  for (const value of Object.values(map)) if (value !== undefined) size++;
  return size;
}

/** The part at a key that may come from a hostile manifest: `__proto__` is a part only when it is an own key. */
export function partOf(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
