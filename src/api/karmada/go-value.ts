/**
 * Values as error messages print them: a Go struct prints its fields in the order of declaration, regardless of the
 * order in which they were sent.
 */
import { isObject, type DeepReadonly, type Json, type JsonObject } from "../../base/index.ts";
import { structOf, type FactStruct, type FactType } from "../facts.ts";

/** The value as the type `name` of a fact table, for a message. */
export function goValue(table: string, name: string, value: DeepReadonly<unknown>): Json {
  const struct = structOf(table, name);
  return Array.isArray(value) ? value.map((item) => inOrder(struct, item as Json)) : inOrder(struct, value as Json);
}

function inOrder(struct: FactStruct, value: Json): Json {
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const [name, { type }] of struct.flat) {
    const part = value[name];
    if (part !== undefined) result[name] = ordered(type, part);
    // In Go a value of any type is a struct, which `omitempty` does not omit.
    else if (type.shape === "leaf" && type.leaf === "Json" && !type.pointer) result[name] = null;
  }
  return result;
}

function ordered(type: FactType, value: Json): Json {
  if (type.shape === "struct") return inOrder(type.struct, value);
  if (type.shape === "list" && Array.isArray(value)) return value.map((item) => ordered(type.of, item));
  return value;
}
