/** JSON as Go writes it, for texts that are hashed or compared byte for byte with what upstream wrote. */
import { compareText, isObject } from "../base/index.ts";
import type { Json } from "../base/index.ts";

/** A struct: its fields in the order in which they are given, with `<`, `>`, `&` and two line separators escaped. */
export function goStructJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A map: the keys sorted at every level. */
export function goJson(value: Json): string {
  return goStructJson(sortedKeys(value));
}

/** A copy whose keys are sorted at every level; `__proto__` stays a key like any other. */
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isObject(value)) return value;
  const entries = Object.keys(value).toSorted(compareText);
  return Object.fromEntries(entries.map((key) => [key, sortedKeys(value[key] ?? null)]));
}
