/**
 * How ownership sees a value: as one leaf, or as a map or list whose parts have owners of their own. The schema decides; where it
 * is silent (unknown fields are preserved) maps are granular and lists are leaves.
 */
import { isObject, type Json, type JsonObject } from "../base/index.ts";
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

/** A field that the schema names belongs to the structure and is owned only through what is in it; keys of maps are owned themselves. */
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

interface ListKeys {
  readonly names: readonly string[];
  readonly defaults: JsonObject;
}

const listKeys = new WeakMap<Schema, ListKeys>();

function keysOf(schema: Schema): ListKeys {
  let keys = listKeys.get(schema);
  if (!keys) {
    const names = [...(schema["x-kubernetes-list-map-keys"] ?? [])].sort();
    const defaults: JsonObject = {};
    for (const name of names) {
      const fallback = fieldSchema(schema.items, name)?.default;
      if (fallback !== undefined) defaults[name] = fallback;
    }
    listKeys.set(schema, (keys = { names, defaults }));
  }
  return keys;
}

/** What identifies an element of a set or of a list with keys. Keys that have a default may be left out. */
export function elementOf(shape: "set" | "list-map", schema: Schema | undefined, item: Json, index: number): string {
  if (shape === "set") return `v:${JSON.stringify(item)}`;
  if (!isObject(item) || !schema) return `i:${index}`;
  const { names, defaults } = keysOf(schema);
  let text = "";
  for (const name of names) {
    const value = Object.hasOwn(item, name) ? item[name] : defaults[name];
    if (value !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  return text === "" ? `i:${index}` : `k:{${text}}`;
}

/** The elements of a list by what identifies them. Of elements that are there twice all are kept. */
export function indexList(shape: "set" | "list-map", schema: Schema | undefined, list: readonly Json[]): Map<string, Json[]> {
  const items = new Map<string, Json[]>();
  for (const [index, item] of list.entries()) {
    const element = elementOf(shape, schema, item, index);
    const same = items.get(element);
    if (same) same.push(item);
    else items.set(element, [item]);
  }
  return items;
}
