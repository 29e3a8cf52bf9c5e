/**
 * Whether a definition's schema is structural: every level has a type, and everything that is said about a value is said
 * once, outside of `allOf`, `anyOf`, `oneOf` and `not`. Only then can the server prune, default and merge by it.
 */
import { isObject, type DeepReadonly, type JsonObject } from "../../base/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import { forbiddenField, missing, notOneOf, wrong } from "../field-errors.ts";
import type { CustomResourceDefinition } from "../facts/apiextensions-v1.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const UNSUPPORTED = ["$ref", "$schema", "additionalItems", "definitions", "dependencies", "id", "patternProperties"];
/** What a junctor may not say: it narrows values, it does not describe them. */
const ONLY_OUTSIDE = ["type", "default", "nullable", "description", "title", "additionalProperties"];
/** Schemas nest; a hostile one should not nest for ever. */
const MAX_DEPTH = 100;

/** Errors are told about the one schema that all versions share, or about each version's own. */
export function checkStructural({ spec }: DeepReadonly<CustomResourceDefinition>): FieldError[] {
  return spec.versions.flatMap(({ schema }, index) => {
    const root = schema?.openAPIV3Schema as JsonObject | undefined;
    if (!root) return [];
    const at = spec.versions.length === 1 ? "spec.validation.openAPIV3Schema" : `spec.versions[${index}].schema.openAPIV3Schema`;
    return [...checkRoot(at, root), ...checkLevel(at, root, "root", 0)];
  });
}

function checkRoot(at: string, root: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const { apiVersion, kind, metadata } = isObject(root["properties"]) ? root["properties"] : {};
  for (const [name, schema] of Object.entries({ apiVersion, kind })) {
    if (isObject(schema) && schema["type"] !== "string") errors.push(wrong(`${at}.properties[${name}].type`, schema["type"], "must be string"));
  }
  if (isObject(metadata)) {
    const { type: _, description: __, properties, ...more } = metadata;
    const named = Object.keys(isObject(properties) ? properties : {});
    if (Object.keys(more).length > 0 || named.some((name) => name !== "name" && name !== "generateName")) {
      errors.push(forbiddenField(`${at}.properties[metadata]`, "must not specify anything other than name and generateName, but metadata is implicitly specified"));
    }
  }
  return errors;
}

type Level = "root" | "field" | "item";
const WHERE: Record<Level, string> = { root: "at the root", field: "for specified object fields", item: "for specified array items" };

function checkLevel(at: string, schema: JsonObject, level: Level, depth: number): FieldError[] {
  if (depth > MAX_DEPTH) return [forbiddenField(at, `schemas may be nested at most ${MAX_DEPTH} levels deep`)];
  const { type, properties, additionalProperties, items } = schema;
  const preserves = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const errors: FieldError[] = UNSUPPORTED.filter((key) => schema[key] !== undefined).map((key) => forbiddenField(`${at}.${key}`, `${key} is not supported`));
  if (schema["uniqueItems"] === true) errors.push(forbiddenField(`${at}.uniqueItems`, "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
  if (type === undefined || type === "") {
    if (level === "root" || !(schema["x-kubernetes-int-or-string"] === true || preserves)) errors.push(missing(`${at}.type`, `must not be empty ${WHERE[level]}`));
  } else if (typeof type !== "string" || !TYPES.includes(type)) errors.push(notOneOf(`${at}.type`, type, TYPES));
  else if (level === "root" && type !== "object") errors.push(wrong(`${at}.type`, type, "must be object at the root"));

  if (isObject(properties)) {
    if (isObject(additionalProperties)) errors.push(forbiddenField(`${at}.additionalProperties`, "additionalProperties and properties are mutual exclusive"));
    for (const [name, property] of Object.entries(properties)) {
      const inner = `${at}.properties[${name}]`;
      // What the root says about these is checked there.
      if (level === "root" && (name === "metadata" || name === "apiVersion" || name === "kind")) continue;
      if (isObject(property)) errors.push(...checkLevel(inner, property, "field", depth + 1));
    }
  }
  if (isObject(additionalProperties)) errors.push(...checkLevel(`${at}.additionalProperties`, additionalProperties, "field", depth + 1));
  if (Array.isArray(items)) errors.push(forbiddenField(`${at}.items`, "items must be a schema object and not an array"));
  else if (isObject(items)) errors.push(...checkLevel(`${at}.items`, items, "item", depth + 1));
  else if (type === "array") errors.push(missing(`${at}.items`, "must be specified"));
  return [...errors, ...checkEmbedded(at, schema), ...checkListType(at, schema), ...checkJunctors(at, schema, depth)];
}

function checkEmbedded(at: string, schema: JsonObject): FieldError[] {
  if (schema["x-kubernetes-embedded-resource"] !== true) return [];
  const errors: FieldError[] = [];
  if (schema["properties"] === undefined && schema["x-kubernetes-preserve-unknown-fields"] !== true) {
    errors.push(missing(`${at}.properties`, "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"));
  }
  if (schema["type"] !== "object") errors.push(missing(`${at}.type`, "must be object if x-kubernetes-embedded-resource is true"));
  return errors;
}

function checkListType(at: string, schema: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const listType = schema["x-kubernetes-list-type"];
  const mapType = schema["x-kubernetes-map-type"];
  const items = isObject(schema["items"]) ? schema["items"] : {};
  if (listType !== undefined) {
    if (typeof listType !== "string" || !["atomic", "set", "map"].includes(listType)) errors.push(notOneOf(`${at}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
    if (schema["type"] !== "array") errors.push(wrong(`${at}.type`, schema["type"], "must be array if x-kubernetes-list-type is specified"));
  }
  if (mapType !== undefined && mapType !== "atomic" && mapType !== "granular") errors.push(notOneOf(`${at}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  if (listType !== "map") return errors;
  if (items["type"] !== "object") return [...errors, wrong(`${at}.items.type`, items["type"], "must be object if parent array's x-kubernetes-list-type is map")];
  const keys = Array.isArray(schema["x-kubernetes-list-map-keys"]) ? schema["x-kubernetes-list-map-keys"].map(String) : [];
  const properties = isObject(items["properties"]) ? items["properties"] : {};
  if (keys.length === 0) errors.push(missing(`${at}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"));
  if (keys.some((key) => properties[key] === undefined)) errors.push(wrong(`${at}.x-kubernetes-list-map-keys`, keys, "entries must all be names of item properties"));
  const requiredKeys = Array.isArray(items["required"]) ? items["required"] : [];
  for (const key of keys) {
    const property = properties[key];
    if (isObject(property) && property["default"] === undefined && !requiredKeys.includes(key)) {
      errors.push(missing(`${at}.items.properties[${key}].default`, "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"));
    }
  }
  return errors;
}

function checkJunctors(at: string, schema: JsonObject, depth: number): FieldError[] {
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  const inner: [string, JsonObject][] = [];
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    const list = schema[key];
    if (Array.isArray(list)) for (const [index, item] of list.entries()) if (isObject(item)) inner.push([`${at}.${key}[${index}]`, item]);
  }
  if (isObject(schema["not"])) inner.push([`${at}.not`, schema["not"]]);
  return inner.flatMap(([path, item]) => checkJunctor(path, item, intOrString, depth + 1));
}

function checkJunctor(at: string, schema: JsonObject, mayHaveType: boolean, depth: number): FieldError[] {
  if (depth > MAX_DEPTH) return [forbiddenField(at, `schemas may be nested at most ${MAX_DEPTH} levels deep`)];
  const errors = Object.keys(schema)
    .filter((key) => (ONLY_OUTSIDE.includes(key) || key.startsWith("x-kubernetes-")) && !(key === "type" && mayHaveType) && key !== "x-kubernetes-validations")
    .map((key) => forbiddenField(`${at}.${key}`, "must be undefined to be structural"));
  for (const [name, property] of Object.entries(isObject(schema["properties"]) ? schema["properties"] : {})) {
    if (isObject(property)) errors.push(...checkJunctor(`${at}.properties[${name}]`, property, false, depth + 1));
  }
  if (isObject(schema["items"])) errors.push(...checkJunctor(`${at}.items`, schema["items"], false, depth + 1));
  // The usual form of int-or-string has its two types one level down.
  return [...errors, ...checkJunctors(at, mayHaveType ? { ...schema, "x-kubernetes-int-or-string": true } : schema, depth)];
}
