/**
 * Helpers for conversions between versions of OpenKruise's kinds. Objects may have any shape: unexpected values are
 * passed through.
 */
import { isObject, required, type JsonObject } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";

/** For kinds whose two versions have the same fields. */
export const sameFields = {
  toStorage: (object: JsonObject): JsonObject => ({ ...object, apiVersion: "apps.kruise.io/v1beta1" }),
  fromStorage: (object: JsonObject): JsonObject => ({ ...object, apiVersion: "apps.kruise.io/v1alpha1" }),
};

/** The object in a field; an empty one when absent. */
export function objectAt(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return isObject(value) ? value : {};
}

/** `{ [key]: value }`, or an empty object when the value is empty. */
export const fieldUnlessEmpty = (key: string, value: JsonObject): JsonObject =>
  Object.keys(value).length > 0 ? { [key]: value } : {};

/** Returns the object with a field changed, if it holds an object. */
export function changeObject(parent: JsonObject, key: string, edit: (value: JsonObject) => JsonObject): JsonObject {
  const value = parent[key];
  return isObject(value) ? { ...parent, [key]: edit(value) } : parent;
}

/** Returns the object without some of its fields. */
export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Returns the object with a field renamed. */
export function renamed(object: JsonObject, from: string, to: string): JsonObject {
  const { [from]: value, ...rest } = object;
  return value === undefined ? object : { ...rest, [to]: value };
}

/** Returns the object with annotations and labels added and removed; an empty map is removed. */
export function withMap(
  object: JsonObject,
  map: "annotations" | "labels",
  changes: Readonly<Record<string, string | undefined>>,
): JsonObject {
  const metadata = objectAt(object, "metadata");
  const before = objectAt(metadata, map);
  const names = Object.keys(changes).filter((name) => before[name] !== changes[name]);
  if (names.length === 0) return object;
  const { [map]: _, ...others } = metadata;
  const added = Object.fromEntries(
    Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return {
    ...object,
    metadata: { ...others, ...fieldUnlessEmpty(map, { ...without(before, ...Object.keys(changes)), ...added }) },
  };
}

export const property = (schema: Schema, name: string): Schema =>
  required(schema.properties?.[name], `the property ${name} of the schema`);
export const withProperties = (schema: Schema, properties: Record<string, Schema>): Schema => ({
  ...schema,
  properties: { ...schema.properties, ...properties },
});
export function withoutProperties(schema: Schema, ...names: readonly string[]): Schema {
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name))),
  };
}

export const isAlpha = ({ apiVersion }: { readonly apiVersion: string }): boolean =>
  apiVersion === "apps.kruise.io/v1alpha1";
