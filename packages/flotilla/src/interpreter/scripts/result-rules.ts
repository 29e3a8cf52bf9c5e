/**
 * Karmada cannot distinguish an empty map from an empty list in a script's result, so it checks the input: if the input
 * has an empty value at the same path (without list indexes), the result has the same; otherwise the field is dropped.
 * Operations without such a reference drop every empty map and list, including those in the input. Values that become
 * empty this way are kept. Values that a script neither changed nor moved are correct already, so only the rest is
 * checked.
 */
import { isObject, setOwn } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { EmptyRule } from "@flotilla/lua";

const isEmpty = (json: Json | undefined): boolean =>
  typeof json === "object" && json !== null && (Array.isArray(json) ? json.length === 0 : isEmptyObject(json));

function isEmptyObject(object: object): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}

/** Containers of immutable inputs recur from call to call; each is processed once. */
const stripped = new WeakMap<object, Json>();

/** Without any empty map or list; the same object if there is none. The root is kept. */
export function withoutEmpties(json: Json): Json {
  if (typeof json !== "object" || json === null) return json;
  const known = stripped.get(json);
  if (known !== undefined) return known;
  const result = Array.isArray(json) ? stripList(json) : stripObject(json);
  stripped.set(json, result);
  return result;
}

function stripList(list: Json[]): Json[] {
  let isSame = true;
  const kept: Json[] = [];
  for (const item of list) {
    const clean = isEmpty(item) ? undefined : withoutEmpties(item);
    if (clean !== item) isSame = false;
    if (clean !== undefined) kept.push(clean);
  }
  return isSame ? list : kept;
}

function stripObject(object: JsonObject): JsonObject {
  let result: JsonObject | undefined;
  const keys = Object.keys(object);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? "";
    const value = object[key] as Json;
    const clean =
      typeof value !== "object" || value === null ? value : isEmpty(value) ? undefined : withoutEmpties(value);
    if (clean === value && result === undefined) continue;
    if (result === undefined) {
      result = {};
      for (const before of keys.slice(0, index)) setOwn(result, before, object[before]);
    }
    if (clean !== undefined) setOwn(result, key, clean);
  }
  return result ?? object;
}

/** How an empty table of a result is encoded, based on the input objects. */
export function emptiesAsIn(references: readonly Json[]): EmptyRule {
  const at = (path: readonly string[]): Json | undefined => {
    const place = placeOf(path);
    const empties = references.map(emptiesOf);
    if (empties.some(({ maps }) => maps.has(place))) return {};
    return empties.some(({ lists }) => lists.has(place)) ? [] : undefined;
  };
  const moved = (json: Json, path: string[]): Json | undefined => {
    if (isEmpty(json)) return at(path);
    if (withoutEmpties(json) === json) return json;
    if (Array.isArray(json)) return json.map((item) => moved(item, path)).filter((item) => item !== undefined);
    const object: JsonObject = {};
    for (const [key, value] of Object.entries(json as JsonObject)) {
      path.push(key);
      const kept = moved(value, path);
      path.pop();
      if (kept !== undefined) setOwn(object, key, kept);
    }
    return object;
  };
  return { at, moved, isReference: (root) => references.includes(root as Json) };
}

/** Keys are only compared, never split, so the separator only has to be unlikely in a key. */
const placeOf = (path: readonly string[]): string => path.join("\0");

interface Empties {
  maps: Set<string>;
  lists: Set<string>;
}

const knownEmpties = new WeakMap<object, Empties>();

/** The paths of empty values in an input. */
function emptiesOf(root: Json): Empties {
  const known = knownEmpties.get(root as object);
  if (known) return known;
  const empties: Empties = { maps: new Set(), lists: new Set() };
  collectEmpties(root, [], empties);
  knownEmpties.set(root as object, empties);
  return empties;
}

function collectEmpties(json: Json, path: string[], empties: Empties): void {
  if (isEmpty(json)) {
    (Array.isArray(json) ? empties.lists : empties.maps).add(placeOf(path));
  } else if (Array.isArray(json)) {
    for (const item of json) collectEmpties(item, path, empties);
  } else if (isObject(json)) {
    for (const [key, value] of Object.entries(json)) {
      path.push(key);
      collectEmpties(value, path, empties);
      path.pop();
    }
  }
}

/** JSON as Karmada's scripts see it: without nulls. Convert objects when they are received, not per call. */
export function withoutNulls(json: Json): Json {
  if (Array.isArray(json)) return json.some(hasNull) ? json.filter((item) => item !== null).map(withoutNulls) : json;
  if (!isObject(json) || !hasNull(json)) return json;
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(json)) if (value !== null) setOwn(result, key, withoutNulls(value));
  return result;
}

function hasNull(json: Json): boolean {
  if (json === null) return true;
  if (typeof json !== "object") return false;
  return Array.isArray(json) ? json.some(hasNull) : Object.values(json).some(hasNull);
}
