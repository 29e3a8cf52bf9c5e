/** JSON as Go marshals it, for text that is hashed or compared byte for byte with upstream's. */
import { compareText, isObject } from "@flotilla/base";
import type { Json } from "@flotilla/base";

/** A struct: its fields in the given order, with `<`, `>`, `&` and two line separators escaped. */
export function goStructJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A map: keys sorted at every level. */
export function goJson(value: Json): string {
  return goStructJson(sortedKeys(value));
}

/** A copy with keys sorted at every level; `__proto__` stays an ordinary key. */
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isObject(value)) return value;
  const entries = Object.keys(value).toSorted(compareText);
  return Object.fromEntries(entries.map((key) => [key, sortedKeys(value[key] ?? null)]));
}
