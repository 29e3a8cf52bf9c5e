/**
 * How ownership sees a value: as one leaf, or as a map or list whose parts have owners of their own. The schema
 * decides; where it is silent (unknown fields are preserved) maps are granular and lists are leaves.
 */
import { isObject, type Json } from "../base/index.ts";
import type { Schema } from "./schema.ts";

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
 * A field that the schema names belongs to the structure and is owned only through what is in it; keys of maps are
 * owned themselves.
 */
export function isNamedField(schema: Schema | undefined, key: string): boolean {
  return schema?.properties !== undefined && Object.hasOwn(schema.properties, key);
}

export function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return typeof schema?.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** The schema that a path element of a field set leads to. */
export function elementSchema(schema: Schema | undefined, element: string): Schema | undefined {
  return element.startsWith("f:") ? fieldSchema(schema, element.slice(2)) : schema?.items;
}

/** A key of a list: its name as JSON writes it before the value, and the default of the value in JSON. */
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
/** Far more than the schemas of a fleet name; keys of maps that clients make up are not kept beyond it. */
const MAX_FIELD_ELEMENTS = 10_000;

/**
 * The step of a path that leads to a field. Field names are few, and a text that is made once is found faster than made
 * again.
 */
export function fieldElement(key: string): string {
  let element = fieldElements.get(key);
  if (element === undefined) {
    element = `f:${key}`;
    if (fieldElements.size < MAX_FIELD_ELEMENTS && key.length <= MAX_KEPT_KEY) fieldElements.set(key, element);
  }
  return element;
}
const MAX_KEPT_KEY = 64;

/** What identifies an element of a set or of a list with keys. Keys that have a default may be left out. */
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

/** The elements of a list by what identifies them. Of elements that are there twice all are kept. */
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
