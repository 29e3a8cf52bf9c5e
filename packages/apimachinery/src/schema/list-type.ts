/** Set and map lists may not contain duplicates. */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import { field, type FieldError } from "../field.ts";
import { formatJson, formatValue } from "../format-value.ts";
import type { Schema } from "../schema.ts";

const NONE: readonly FieldError[] = [];

/**
 * The duplicate elements by value or keys: the second of each, regardless of further repetitions. `pathOf` returns the
 * path of the list.
 */
export function listTypeErrors(schema: Schema, list: readonly Json[], pathOf: () => string): readonly FieldError[] {
  const type = schema["x-kubernetes-list-type"];
  if ((type !== "set" && type !== "map") || list.length === 0) return NONE;
  if (type === "map") {
    const index = list.findIndex((item) => item !== null && !isObject(item));
    if (index >= 0)
      return [
        field.invalid(
          `${pathOf()}[${index}]`,
          field.shown(formatValue(list[index] as Json)),
          "must be an object for an array of list-type map",
        ),
      ];
  }
  if (list.length < 2) return NONE;
  const times = new Map<string, number>();
  const errors: FieldError[] = [];
  for (const [index, item] of list.entries()) {
    const id = type === "set" ? idOf(item) : keysText(schema, item);
    const before = times.get(id) ?? 0;
    if (before === 1)
      errors.push(field.duplicate(`${pathOf()}[${index}]`, field.shown(type === "set" ? formatValue(item) : id)));
    times.set(id, before + 1);
  }
  return errors;
}

const idOf = (item: Json): string =>
  typeof item === "object" && item !== null ? formatJson(item) : JSON.stringify(item);

const sortedKeys = new WeakMap<Schema, readonly string[]>();

/** The keys of an element as JSON. */
function keysText(schema: Schema, item: Json): string {
  if (!isObject(item)) return "{}";
  let names = sortedKeys.get(schema);
  if (!names) sortedKeys.set(schema, (names = [...(schema["x-kubernetes-list-map-keys"] ?? [])].sort()));
  const keys: JsonObject = {};
  for (const name of names) if (Object.hasOwn(item, name) && item[name] !== undefined) keys[name] = item[name];
  return formatJson(keys);
}
