/** Lists that behave as sets or maps may not hold an element twice. */
import { isObject, type Json } from "../base/index.ts";
import type { Schema } from "./schema.ts";

const NONE: readonly { index: number; message: string }[] = [];

/** The elements that came before under the same value or keys. Elements of the wrong type are validation's business. */
export function listTypeErrors(schema: Schema, list: readonly Json[]): readonly { index: number; message: string }[] {
  const type = schema["x-kubernetes-list-type"];
  if ((type !== "set" && type !== "map") || list.length < 2) return NONE;
  const seen = new Set<string>();
  const errors: { index: number; message: string }[] = [];
  for (const [index, item] of list.entries()) {
    const text = type === "set" ? JSON.stringify(item) : keysText(schema, item);
    if (text === undefined) continue;
    if (seen.has(text)) errors.push({ index, message: `Duplicate value: ${text}` });
    seen.add(text);
  }
  return errors;
}

const sortedKeys = new WeakMap<Schema, readonly string[]>();

/** The keys of an element as JSON, by name. */
function keysText(schema: Schema, item: Json): string | undefined {
  if (!isObject(item)) return undefined;
  let names = sortedKeys.get(schema);
  if (!names) sortedKeys.set(schema, (names = [...(schema["x-kubernetes-list-map-keys"] ?? [])].sort()));
  let text = "";
  for (const name of names) if (Object.hasOwn(item, name) && item[name] !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${JSON.stringify(item[name])}`;
  return `{${text}}`;
}
