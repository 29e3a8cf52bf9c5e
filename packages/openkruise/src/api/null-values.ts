/**
 * Replaces nulls in the parts of an object that CRDs leave open, such as pod templates. In a Go struct a null is an
 * absent field, and in a list or map it is the zero value of its type. The conversion is done here, so that later
 * readers need not handle nulls.
 */
import { isObject, skipUnchanged, type Json, type JsonObject } from "@flotilla/base";
import { structOf, type FactStruct, type FactType, type Leaf } from "@flotilla/apimachinery";
import { changed } from "./known-fields.ts";

/** Returns the same object when it has no nulls. Fields that the type does not have are unchanged. */
export function withoutNulls(table: string, name: string, object: JsonObject): JsonObject {
  return fieldsOf(structOf(table, name), object);
}

function fieldsOf({ flat }: FactStruct, object: JsonObject): JsonObject {
  return changed(object, (key, value) => {
    const type = flat.get(key)?.type;
    if (!type || (value === null && type.shape === "leaf" && isOpaque(type.leaf))) return value;
    return value === null ? undefined : inside(type, value);
  });
}

function inside(type: FactType, value: Json): Json {
  if (type.shape === "leaf") return value;
  if (type.shape === "list") return Array.isArray(value) ? itemsOf(type.of, value) : value;
  if (!isObject(value)) return value;
  if (type.shape === "struct" && type.struct.name === "PodTemplateSpec") return templateFields(value);
  return type.shape === "struct"
    ? fieldsOf(type.struct, value)
    : changed(value, (_key, item) => (item === null ? zeroOf(type.of) : inside(type.of, item)));
}

const templateFields = skipUnchanged((template: JsonObject) =>
  fieldsOf(structOf("core-v1", "PodTemplateSpec"), template),
);

function itemsOf(type: FactType, list: Json[]): Json[] {
  const items = list.map((item) => (item === null ? zeroOf(type) : inside(type, item)));
  return items.every((item, index) => item === list[index]) ? list : items;
}

const ZEROS: Readonly<Partial<Record<Leaf, Json>>> = {
  string: "",
  bytes: "",
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  IntOrString: 0,
  Quantity: "0",
};

/** A value of any type may be null. */
const isOpaque = (leaf: Leaf): boolean => leaf === "Json" || leaf === "RawObject";

function zeroOf(type: FactType): Json {
  if (type.shape === "leaf") return ZEROS[type.leaf] ?? null;
  return type.shape === "list" ? [] : {};
}
