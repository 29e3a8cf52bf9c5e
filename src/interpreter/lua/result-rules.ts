/**
 * Karmada cannot tell an empty map from an empty list in what a script returns, so it looks at the input: where that has an
 * empty value at the same place, positions left aside, the result has the same; otherwise the field is dropped. Operations
 * without such a reference drop every empty map and list, also those that came in. What becomes empty by this stays.
 *
 * We differ in one thing: an empty value of the input that the script did not touch survives where there is a reference, even
 * if it was moved.
 */
import { isObject, setOwn } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import type { EmptyRule } from "./encode.ts";

const isEmpty = (json: Json | undefined): boolean => typeof json === "object" && json !== null && (Array.isArray(json) ? json.length === 0 : isEmptyObject(json));

function isEmptyObject(object: object): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}

/** Containers of immutable inputs recur from call to call; each is looked through once. */
const stripped = new WeakMap<object, Json>();

/** Without any empty map or list; the same object where there is none. The root stays what it is. */
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
    const clean = typeof value !== "object" || value === null ? value : isEmpty(value) ? undefined : withoutEmpties(value);
    if (clean === value && result === undefined) continue;
    if (result === undefined) {
      result = {};
      for (const before of keys.slice(0, index)) setOwn(result, before, object[before]);
    }
    if (clean !== undefined) setOwn(result, key, clean);
  }
  return result ?? object;
}

/** What an empty table of a result is to be, by the objects that went in. */
export function emptiesAsIn(references: readonly Json[]): EmptyRule {
  return (path) => {
    const found = references.flatMap((reference) => valuesAt(reference, path));
    if (found.some((value) => isObject(value) && isEmpty(value))) return {};
    return found.some((value) => Array.isArray(value) && value.length === 0) ? [] : undefined;
  };
}

/** Everything at a path, whatever lists are on the way. */
function valuesAt(root: Json, path: readonly string[]): Json[] {
  let values: Json[] = [root];
  for (const key of path) {
    values = values.flatMap(items).flatMap((value) => (isObject(value) && Object.hasOwn(value, key) ? [value[key] as Json] : []));
  }
  return values.flatMap((value) => [value, ...items(value)]);
}

/** The elements of a list, and of lists in it; anything else is its own only one. */
function items(value: Json): Json[] {
  return Array.isArray(value) ? value.flatMap(items) : [value];
}

/** JSON as Karmada's scripts see it: without nulls. Objects should be brought into this form when they come in, not per call. */
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
