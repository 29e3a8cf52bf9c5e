/**
 * Defaulting of shared objects: what is complete is returned as it is, what lacks something is copied once.
 *
 * Defaults come before the schema is checked, so a value may be of any type. Whatever is not an object or list as
 * expected passes through untouched, and validation refuses it.
 */
import { isObject, type DeepReadonly } from "../base/index.ts";

type Read<T> = DeepReadonly<T>;

/** The object with defaults for fields that it does not have. */
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

/** The object with one field changed by a function; absent fields stay absent. */
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

/** The list with every item changed; the same list when none was. */
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
