/** Lists that behave as sets or maps may not hold an element twice. */
import { isObject, type Json } from "../base/index.ts";
import type { Schema } from "./schema.ts";

/** The elements that came before under the same value or keys. Elements of the wrong type are validation's business. */
export function listTypeErrors(schema: Schema, list: readonly Json[]): { index: number; message: string }[] {
  const type = schema["x-kubernetes-list-type"];
  if (type !== "set" && type !== "map") return [];
  const seen = new Set<string>();
  const errors: { index: number; message: string }[] = [];
  for (const [index, item] of list.entries()) {
    const shown = type === "set" ? item : keysOf(schema, item);
    if (shown === undefined) continue;
    const text = JSON.stringify(shown);
    if (seen.has(text)) errors.push({ index, message: `Duplicate value: ${text}` });
    seen.add(text);
  }
  return errors;
}

function keysOf(schema: Schema, item: Json): Record<string, Json> | undefined {
  if (!isObject(item)) return undefined;
  const keys: Record<string, Json> = {};
  for (const key of [...(schema["x-kubernetes-list-map-keys"] ?? [])].sort()) if (Object.hasOwn(item, key)) keys[key] = item[key] as Json;
  return keys;
}
