/**
 * The shape of a value for ownership: one leaf, or a map or list whose parts have separate owners. The schema decides;
 * where it is silent (preserved unknown fields), maps are granular and lists are leaves.
 */
import { isObject, type Json } from "@flotilla/base";
import { fieldSchema } from "../schema.ts";
import type { Schema } from "../schema.ts";

export type Shape = "leaf" | "map" | "set" | "list-map";

export function shapeOf(schema: Schema | undefined, value: Json | undefined): Shape {
  if (Array.isArray(value)) {
    const type = schema?.["x-kubernetes-list-type"];
    return type === "set" ? "set" : type === "map" ? "list-map" : "leaf";
  }
  if (!isObject(value) || schema?.["x-kubernetes-map-type"] === "atomic") return "leaf";
  return schema?.type === undefined || schema.type === "object" ? "map" : "leaf";
}

/**
 * A field that the schema names belongs to the structure and is owned only through its contents; keys of maps are owned
 * themselves.
 */
export function isNamedField(schema: Schema | undefined, key: string): boolean {
  return schema?.properties !== undefined && Object.hasOwn(schema.properties, key);
}

/** The schema of a path element of a field set. */
export function elementSchema(schema: Schema | undefined, element: string): Schema | undefined {
  return element.startsWith("f:") ? fieldSchema(schema, element.slice(2)) : schema?.items;
}

/** A key of a list: its name as a JSON prefix, and the default of its value in JSON. */
interface ListKey {
  readonly name: string;
  readonly prefix: string;
  readonly fallback: string | undefined;
}

const listKeys = new WeakMap<Schema, readonly ListKey[]>();

function keysOf(schema: Schema): readonly ListKey[] {
  let keys = listKeys.get(schema);
  if (!keys) {
    const names = [...(schema["x-kubernetes-list-map-keys"] ?? [])].sort();
    keys = names.map((name) => {
      const fallback = fieldSchema(schema.items, name)?.default;
      return {
        name,
        prefix: `${JSON.stringify(name)}:`,
        fallback: fallback === undefined ? undefined : JSON.stringify(fallback),
      };
    });
    listKeys.set(schema, keys);
  }
  return keys;
}

const fieldElements = new Map<string, string>();
/** Far more than the schemas of a fleet contain; further map keys, which clients may invent, are not cached. */
const MAX_FIELD_ELEMENTS = 10_000;

/** The path element of a field. Field names are few, and a cache lookup is faster than building the string. */
export function fieldElement(key: string): string {
  let element = fieldElements.get(key);
  if (element === undefined) {
    element = `f:${key}`;
    if (fieldElements.size < MAX_FIELD_ELEMENTS && key.length <= MAX_KEPT_KEY) fieldElements.set(key, element);
  }
  return element;
}
const MAX_KEPT_KEY = 64;

/** The path element of an item of a set or a keyed list. Keys with a default may be omitted. */
export function elementOf(shape: "set" | "list-map", schema: Schema | undefined, item: Json, index: number): string {
  if (shape === "set") return `v:${JSON.stringify(item)}`;
  if (!isObject(item) || !schema) return `i:${index}`;
  let text = "";
  for (const { name, prefix, fallback } of keysOf(schema)) {
    const value = Object.hasOwn(item, name) ? JSON.stringify(item[name]) : fallback;
    if (value !== undefined) text += text === "" ? prefix + value : `,${prefix}${value}`;
  }
  return text === "" ? `i:${index}` : `k:{${text}}`;
}

/** The elements of a list by their path element. Duplicates are all kept. */
export function indexList(
  shape: "set" | "list-map",
  schema: Schema | undefined,
  list: readonly Json[],
): Map<string, Json[]> {
  const items = new Map<string, Json[]>();
  for (const [index, item] of list.entries()) {
    const element = elementOf(shape, schema, item, index);
    const same = items.get(element);
    if (same) same.push(item);
    else items.set(element, [item]);
  }
  return items;
}
