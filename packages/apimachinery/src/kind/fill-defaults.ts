/**
 * Defaulting of shared objects: a complete object is returned unchanged, an incomplete one is copied once.
 *
 * Defaulting runs before schema validation, so a value may have any type. Values of an unexpected type are passed
 * through unchanged, and validation rejects them.
 */
import { isObject, type DeepReadonly } from "@flotilla/base";

type Read<T> = DeepReadonly<T>;

/** Returns the object with defaults for absent fields. */
export function fill<T extends object>(object: T, defaults: Partial<T>): T {
  if (!isObject(object)) return object;
  let result: T = object;
  for (const key in defaults) {
    if (result[key] !== undefined || defaults[key] === undefined) continue;
    if (result === object) result = { ...object };
    result[key] = defaults[key];
  }
  return result;
}

/** Returns the object with one field changed by a function; absent fields stay absent. */
export function change<T extends object, K extends keyof T>(
  object: T,
  key: K,
  edit: (value: NonNullable<T[K]>) => T[K],
): T {
  const before = object[key];
  if (typeof before !== "object" || before === null) return object;
  const after = edit(before);
  return after === before ? object : { ...object, [key]: after };
}

/** Returns the list with every item changed; the same list when no item changed. */
export function changeItems<T>(list: readonly Read<T>[], edit: (item: Read<T>) => Read<T>): readonly Read<T>[] {
  if (!Array.isArray(list)) return list;
  let result: Read<T>[] | undefined;
  for (const [index, item] of list.entries()) {
    if (typeof item !== "object" || item === null) continue;
    const after = edit(item);
    if (after !== item) (result ??= [...list])[index] = after;
  }
  return result ?? list;
}
