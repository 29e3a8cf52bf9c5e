/**
 * Checks whether a CRD's schema is structural: every level has a type, and every keyword that describes a value is
 * declared once, outside `allOf`, `anyOf`, `oneOf` and `not`. Only then can the server prune, default and merge by it.
 */
import { equalJson, isObject, type Json, type JsonObject } from "@flotilla/base";
import { field, PatternError, compilePattern, type FieldError } from "@flotilla/apimachinery";
/** Limits schema nesting, so a hostile schema cannot overflow the stack. */
export const MAX_SCHEMA_DEPTH = 100;

/**
 * Describes the part of a schema that prevents its conversion; undefined when it can be converted. Other rules reject
 * most of these with better messages.
 */
export function unsupportedPart(schema: JsonObject, depth = 0): string | undefined {
  if (depth > MAX_SCHEMA_DEPTH) return `schemas may be nested at most ${MAX_SCHEMA_DEPTH} levels deep`;
  for (const [key, name] of UNSUPPORTED) if (isStated(schema[key])) return `OpenAPIV3Schema '${name}' is not supported`;
  for (const junctor of junctorsOf(schema)) {
    const inner = unsupportedPart(junctor.schema, depth + 1);
    if (inner !== undefined) return inner;
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  if (Array.isArray(schema["items"])) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  const { items, additionalProperties } = schema;
  for (const child of [items, ...Object.values(propertiesOf(schema)), additionalProperties]) {
    const inner = isObject(child) ? unsupportedPart(child, depth + 1) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

const UNSUPPORTED: readonly (readonly [key: string, name: string])[] = [
  ["id", "id"],
  ["$schema", "schema"],
  ["$ref", "$ref"],
  ["patternProperties", "patternProperties"],
  ["dependencies", "dependencies"],
  ["additionalItems", "additionalItems"],
  ["definitions", "definitions"],
];

const isStated = (value: Json | undefined): boolean =>
  value !== undefined && value !== "" && !(isObject(value) && Object.keys(value).length === 0);

export function propertiesOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {};
}

interface Junctor {
  /** `.anyOf[0]` */
  at: string;
  schema: JsonObject;
}

/** The schemas in `anyOf`, `allOf`, `oneOf` and `not`. */
function junctorsOf(schema: JsonObject): Junctor[] {
  const found: Junctor[] = [];
  for (const key of ["anyOf", "allOf", "oneOf"]) {
    const list = schema[key];
    if (Array.isArray(list))
      for (const [index, item] of list.entries())
        if (isObject(item)) found.push({ at: `.${key}[${index}]`, schema: item });
  }
  if (isObject(schema["not"])) found.push({ at: ".not", schema: schema["not"] });
  return found;
}

type Level = "root" | "field" | "item";
const WHERE: Record<Level, string> = {
  root: "at the root",
  field: "for specified object fields",
  item: "for specified array items",
};

/** Returns every error that keeps a schema from being structural, sorted by message. */
export function checkStructural(at: string, root: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  checkLevel(at, root, "root", errors);
  for (const { at: junctor, schema } of junctorsOf(root)) checkCompleteness(schema, root, at, at + junctor, errors);
  const textOf = ({ field, message }: FieldError): string => `${field}: ${message}`;
  return errors.sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

function checkLevel(at: string, schema: JsonObject, level: Level, errors: FieldError[]): void {
  const { items, additionalProperties } = schema;
  const type = schema["type"] ?? "";
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const preserves = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isIntOrString = schema["x-kubernetes-int-or-string"] === true;
  const properties = propertiesOf(schema);

  if (type === "array" && items === undefined) errors.push(field.required(`${at}.items`, "must be specified"));
  if (isObject(items)) checkLevel(`${at}.items`, items, "item", errors);
  for (const [name, property] of Object.entries(properties))
    if (isObject(property)) checkLevel(`${at}.properties[${name}]`, property, "field", errors);
  if (additionalProperties !== undefined) {
    if (level === "root") errors.push(field.forbidden(`${at}.additionalProperties`, "must not be used at the root"));
    if (isObject(additionalProperties)) checkLevel(`${at}.additionalProperties`, additionalProperties, "field", errors);
  }
  if (isIntOrString && preserves)
    errors.push(
      field.invalid(
        `${at}.x-kubernetes-preserve-unknown-fields`,
        true,
        "must be false if x-kubernetes-int-or-string is true",
      ),
    );
  if (isIntOrString && isEmbedded)
    errors.push(
      field.invalid(
        `${at}.x-kubernetes-embedded-resource`,
        true,
        "must be false if x-kubernetes-int-or-string is true",
      ),
    );
  checkValues(at, schema, isIntOrStringPair(schema["anyOf"]), errors);

  if (isEmbedded && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? field.required(`${at}.type`, detail) : field.invalid(`${at}.type`, type, detail));
  } else if (type === "" && !isIntOrString && !preserves)
    errors.push(field.required(`${at}.type`, `must not be empty ${WHERE[level]}`));
  if (isEmbedded && additionalProperties !== undefined)
    errors.push(
      field.forbidden(`${at}.additionalProperties`, "must not be used if x-kubernetes-embedded-resource is set"),
    );
  if (level === "root" && type !== "" && type !== "object")
    errors.push(field.invalid(`${at}.type`, type, "must be object at the root"));
  checkMetadata(at, properties, level === "root", level === "root" || isEmbedded, errors);
  if (isEmbedded && !preserves && Object.keys(properties).length === 0) {
    errors.push(
      field.required(
        `${at}.properties`,
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      ),
    );
  }
}

/** A CRD may restrict the names of its objects; the rest of metadata is fixed. */
function checkMetadata(
  at: string,
  properties: JsonObject,
  isRoot: boolean,
  isResource: boolean,
  errors: FieldError[],
): void {
  const typeOf = (schema: Json | undefined): Json => (isObject(schema) ? (schema["type"] ?? "") : "");
  for (const name of ["kind", "apiVersion"]) {
    if (isResource && properties[name] !== undefined && typeOf(properties[name]) !== "string")
      errors.push(field.invalid(`${at}.properties[${name}].type`, typeOf(properties[name]), "must be string"));
  }
  const { metadata } = properties;
  if (!isObject(metadata)) return;
  if (isResource && typeOf(metadata) !== "object")
    errors.push(field.invalid(`${at}.properties[metadata].type`, typeOf(metadata), "must be object"));
  if (!isRoot) return;
  const { type: _, default: __, properties: named, ...more } = metadata;
  const isNamesOnly = Object.keys(isObject(named) ? named : {}).every(
    (name) => name === "name" || name === "generateName",
  );
  if (Object.keys(more).length > 0 || !isNamesOnly) {
    errors.push(
      field.forbidden(
        `${at}.properties[metadata]`,
        "must not specify anything other than name and generateName, but metadata is implicitly specified",
      ),
    );
  }
}

const INT_OR_STRING = [{ type: "integer" }, { type: "string" }];
const isIntOrStringPair = (anyOf: Json | undefined): boolean => anyOf !== undefined && equalJson(anyOf, INT_OR_STRING);

/**
 * Keywords that describe values, here and in junctors. The usual form of int-or-string has types in its `anyOf`, here
 * or in the first `allOf`.
 */
function checkValues(at: string, schema: JsonObject, skipAnyOf: boolean, errors: FieldError[], mayNest = true): void {
  for (const { at: junctor, schema: inner } of junctorsOf(schema)) {
    if (skipAnyOf && junctor.startsWith(".anyOf")) continue;
    checkNested(at + junctor, inner, mayNest && junctor === ".allOf[0]" && isIntOrStringPair(inner["anyOf"]), errors);
  }
  const { pattern } = schema;
  if (typeof pattern === "string") checkPattern(`${at}.pattern`, pattern, errors);
}

function checkPattern(path: string, pattern: string, errors: FieldError[]): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    errors.push(field.invalid(path, pattern, `must be a valid regular expression, but isn't: ${error.problem}`));
  }
}

/** Keywords that a junctor may not set: it narrows values, it does not describe them. */
const ONLY_OUTSIDE: readonly (readonly [key: string, detail: string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function checkNested(at: string, schema: JsonObject, skipAnyOf: boolean, errors: FieldError[]): void {
  checkValues(at, schema, skipAnyOf, errors, false);
  if (isObject(schema["items"])) checkNested(`${at}.items`, schema["items"], false, errors);
  const properties = propertiesOf(schema);
  for (const [name, property] of Object.entries(properties))
    if (isObject(property)) checkNested(`${at}.properties[${name}]`, property, false, errors);
  for (const [key, detail] of ONLY_OUTSIDE)
    if (schema[key] !== undefined && schema[key] !== false) errors.push(field.forbidden(`${at}.${key}`, detail));
  if (properties["metadata"] !== undefined)
    errors.push(field.forbidden(`${at}.properties[metadata]`, "must not be specified in a nested context"));
}

/** A property that a junctor at the root names must also be declared outside it. */
function checkCompleteness(
  nested: JsonObject,
  schema: JsonObject | undefined,
  at: string,
  nestedAt: string,
  errors: FieldError[],
): void {
  if (!schema) return void errors.push(field.required(at, `because it is defined in ${nestedAt}`));
  for (const { at: junctor, schema: inner } of junctorsOf(nested))
    checkCompleteness(inner, schema, at, nestedAt + junctor, errors);
  const { items } = schema;
  if (isObject(nested["items"]))
    checkCompleteness(nested["items"], isObject(items) ? items : undefined, `${at}.items`, `${nestedAt}.items`, errors);
  const properties = propertiesOf(schema);
  for (const [name, property] of Object.entries(propertiesOf(nested))) {
    const outside = properties[name];
    if (isObject(property))
      checkCompleteness(
        property,
        isObject(outside) ? outside : undefined,
        `${at}.properties[${name}]`,
        `${nestedAt}.properties[${name}]`,
        errors,
      );
  }
}
