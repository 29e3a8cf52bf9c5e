/**
 * What a webhook loses when it reads a value into a Go struct and writes it again: fields that the struct does not
 * have. Definitions leave pod templates open, so nobody else takes them out.
 */
import { isObject, type Json, type JsonObject } from "../../base/index.ts";
import { structOf, type FactStruct, type FactType } from "../facts.ts";

/** The value without fields that its type does not have, each of which is told. The same value when there is none. */
export function knownFields(
  table: string,
  name: string,
  value: JsonObject,
  at: string,
  unknown: (path: string) => void,
): JsonObject {
  return knownOf({ shape: "struct", struct: structOf(table, name), pointer: false }, value, at, unknown) as JsonObject;
}

function knownOf(type: FactType, value: Json, at: string, unknown: (path: string) => void): Json {
  if (type.shape === "leaf") return value;
  if (type.shape === "list") return Array.isArray(value) ? knownItems(type.of, value, at, unknown) : value;
  if (!isObject(value)) return value;
  return type.shape === "struct"
    ? knownStruct(type.struct, value, at, unknown)
    : changed(value, (key, item) => knownOf(type.of, item, `${at}.${key}`, unknown));
}

function knownItems(of: FactType, list: Json[], at: string, unknown: (path: string) => void): Json[] {
  const items = list.map((item, index) => knownOf(of, item, `${at}[${index}]`, unknown));
  return items.every((item, index) => item === list[index]) ? list : items;
}

function knownStruct({ flat }: FactStruct, value: JsonObject, at: string, unknown: (path: string) => void): JsonObject {
  return changed(value, (key, item) => {
    const field = flat.get(key);
    if (field) return knownOf(field.type, item, `${at}.${key}`, unknown);
    unknown(`${at}.${key}`);
    return undefined;
  });
}

/** The object with every field changed; those that become undefined go. */
export function changed(object: JsonObject, edit: (key: string, value: Json) => Json | undefined): JsonObject {
  const entries = Object.entries(object).map(([key, value]): [string, Json | undefined] => [key, edit(key, value)]);
  if (entries.every(([key, value]) => value === object[key])) return object;
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
