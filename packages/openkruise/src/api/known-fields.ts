/**
 * Removes fields that a webhook loses when it decodes a value into a Go struct and encodes it again: fields that the
 * struct does not have. CRDs leave pod templates open, so schema pruning does not remove them.
 */
import { isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";
import { structOf, type FactStruct, type FactType } from "@flotilla/apimachinery";

/**
 * Returns the value without fields that its type does not have, and reports each. Returns the same value when there are
 * none.
 */
export function knownFields(
  table: string,
  name: string,
  value: JsonObject,
  at: string,
  unknown: (path: string) => void,
): JsonObject {
  const struct = structOf(table, name);
  const known = knownParts.get(struct) ?? new WeakSet<JsonObject>();
  if (known.has(value)) return value;
  const kept = knownOf({ shape: "struct", struct, pointer: false }, value, at, unknown) as JsonObject;
  knownParts.set(struct, known.add(kept));
  return kept;
}

/** By type, the parts that have only fields of the type. Each is shared by a workload on the hub and on its members. */
const knownParts = new WeakMap<FactStruct, WeakSet<JsonObject>>();

function knownOf(type: FactType, value: Json, at: string, unknown: (path: string) => void): Json {
  if (type.shape === "leaf") return value;
  if (type.shape === "list") return Array.isArray(value) ? knownItems(type.of, value, at, unknown) : value;
  if (!isObject(value)) return value;
  return type.shape === "struct"
    ? knownStruct(type.struct, value, at, unknown)
    : changed(value, (key, item) => knownOf(type.of, item, `${at}.${key}`, unknown));
}

function knownItems(of: FactType, list: Json[], at: string, unknown: (path: string) => void): Json[] {
  if (of.shape === "leaf") return list;
  const items = list.map((item, index) => knownOf(of, item, `${at}[${index}]`, unknown));
  return items.every((item, index) => item === list[index]) ? list : items;
}

function knownStruct({ flat }: FactStruct, value: JsonObject, at: string, unknown: (path: string) => void): JsonObject {
  return changed(value, (key, item) => {
    const field = flat.get(key);
    if (field?.type.shape === "leaf") return item;
    if (field) return knownOf(field.type, item, `${at}.${key}`, unknown);
    unknown(`${at}.${key}`);
    return undefined;
  });
}

/** Returns the object with every field changed; fields that become undefined are removed. */
export function changed(object: JsonObject, edit: (key: string, value: Json) => Json | undefined): JsonObject {
  let result: JsonObject | undefined;
  for (const key of Object.keys(object)) {
    const before = object[key] as Json;
    const after = edit(key, before);
    if (after === before) continue;
    result ??= { ...object };
    if (after === undefined) Reflect.deleteProperty(result, key);
    else setOwn(result, key, after);
  }
  return result ?? object;
}
