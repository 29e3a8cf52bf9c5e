/** Defaulting of shared objects: what is complete is returned as it is, what lacks something is copied once. */
import type { DeepReadonly } from "../base/index.ts";

type Read<T> = DeepReadonly<T>;

/** The object with defaults for fields that it does not have. */
export function fill<T extends object>(object: T, defaults: Partial<T>): T {
  let result = object;
  for (const key in defaults) {
    if (result[key] !== undefined || defaults[key] === undefined) continue;
    if (result === object) result = { ...object };
    result[key] = defaults[key] as T[typeof key];
  }
  return result;
}

/** The object with one field changed by a function; absent fields stay absent. */
export function change<T extends object, K extends keyof T>(object: T, key: K, edit: (value: NonNullable<T[K]>) => T[K]): T {
  const before = object[key];
  if (before === undefined || before === null) return object;
  const after = edit(before);
  return after === before ? object : { ...object, [key]: after };
}

/** The list with every item changed; the same list when none was. */
export function changeItems<T>(list: readonly Read<T>[], edit: (item: Read<T>) => Read<T>): readonly Read<T>[] {
  let result: Read<T>[] | undefined;
  for (const [index, item] of list.entries()) {
    const after = edit(item);
    if (after !== item) (result ??= [...list])[index] = after;
  }
  return result ?? list;
}
