/**
 * Makes an object that a client sent share its parts with the stored object. An update repeats most of the object, and
 * the following steps (defaulting, validation, field managers, the comparison with the old object) skip identical
 * parts.
 */
import { isObject, setOwn, type Json, type JsonObject, ownOf } from "@flotilla/base";

/**
 * `value`, in which every part that equals the part of `known` at the same path is that part; `known` itself when
 * everything is equal. The other parts are those of `value`, which is not copied where nothing changes: it must not be
 * modified afterwards. Key order has no meaning, so a shared part has the order of `known`. As in JSON, undefined keys are
 * omitted.
 */
export function shareParts(value: Json, known: Json | undefined): Json {
  if (typeof value !== "object" || value === null || value === known) return value;
  if (Array.isArray(value)) return Array.isArray(known) ? shareItems(value, known) : withoutUndefined(value);
  return isObject(known) ? shareFields(value, known) : withoutUndefined(value);
}

/** `value` as JSON carries it: without keys that are undefined. `value` itself when it has none, which is the rule. */
export function withoutUndefined(value: Json): Json {
  if (!hasUndefined(value)) return value;
  if (Array.isArray(value)) return value.map((item) => withoutUndefined(item ?? null));
  const result: JsonObject = {};
  for (const key of Object.keys(value as JsonObject)) {
    const item = (value as JsonObject)[key];
    if (item !== undefined) setOwn(result, key, withoutUndefined(item));
  }
  return result;
}

function hasUndefined(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null) return value === undefined;
  if (Array.isArray(value)) return value.some(hasUndefined);
  for (const key in value) {
    const item = value[key];
    if (item === undefined || (typeof item === "object" && hasUndefined(item))) return true;
  }
  return false;
}

function shareItems(list: Json[], known: Json[]): Json[] {
  let isKnown = known.length === list.length;
  let isList = true;
  let result: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const before = known[index];
    const item = shareParts(list[index] ?? null, before);
    if (result) {
      result[index] = item;
      continue;
    }
    const wasKnown = isKnown;
    isKnown &&= item === before;
    isList &&= item === list[index];
    if (isKnown || isList) continue;
    // A list that grows item by item reserves room for sixteen more, and most lists have one or two.
    result = list.slice();
    if (wasKnown) for (let at = 0; at < index; at++) result[at] = known[at] as Json;
    result[index] = item;
  }
  return result ?? (isKnown ? known : list);
}

function shareFields(map: JsonObject, known: JsonObject): JsonObject {
  let isKnown = true;
  let isMap = true;
  let same = 0;
  let result: JsonObject | undefined;
  // Not `for in`: V8 keeps compiling and discarding a rarely reached `map[key]` in such a loop.
  for (const key of Object.keys(map)) {
    const given = map[key];
    const before = ownOf(known, key);
    const item = given === undefined ? undefined : shareParts(given, before);
    if (!result) {
      const wasKnown = isKnown;
      if (item !== undefined) {
        isKnown &&= item === before;
        if (isKnown) same++;
      }
      isMap &&= item !== undefined && item === given;
      if (isKnown || isMap) continue;
      result = pick(map, wasKnown ? known : map, key);
    }
    if (item !== undefined) setOwn(result, key, item);
  }
  if (result) return result;
  if (!isKnown) return map;
  if (same === sizeOf(known)) return known;
  return isMap ? map : pick(map, known);
}

/** The parts of `from` at the keys of `map`, up to the key `end`. */
function pick(map: JsonObject, from: JsonObject, end?: string): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(map)) {
    if (key === end) break;
    if (map[key] !== undefined) setOwn(result, key, ownOf(from, key));
  }
  return result;
}

function sizeOf(map: JsonObject): number {
  let size = 0;
  for (const value of Object.values(map)) if (value !== undefined) size++;
  return size;
}
