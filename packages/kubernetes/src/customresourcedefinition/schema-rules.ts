/**
 * Checks which keywords a CRD's schema may use: the supported OpenAPI keywords, and the combinations of the
 * `x-kubernetes-` extensions.
 */
import { defined, isObject, type Json, type JsonObject } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import { MAX_SCHEMA_DEPTH, propertiesOf } from "./structural-rules.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
/** Fields that every object has, regardless of its schema. */
export const META_FIELDS: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);

interface Place {
  at: string;
  isRoot: boolean;
  depth: number;
  /** Inside the metadata, kind or apiVersion of an object. */
  inMeta: boolean;
  /** Why a default is not allowed here. */
  noDefault: string | undefined;
}

export function checkSchema(at: string, schema: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  check(schema, { at, isRoot: true, depth: 0, inMeta: false, noDefault: undefined }, errors);
  return errors;
}

function check(schema: JsonObject, place: Place, errors: FieldError[]): void {
  const { at, depth, inMeta } = place;
  if (depth > MAX_SCHEMA_DEPTH)
    return void errors.push(field.forbidden(at, `schemas may be nested at most ${MAX_SCHEMA_DEPTH} levels deep`));
  checkKeywords(schema, place, errors);
  const { additionalProperties, items, uniqueItems } = schema;
  const properties = propertiesOf(schema);
  const inner = (path: string, changes: Partial<Place> = {}): Place => ({
    ...place,
    at: at + path,
    isRoot: false,
    depth: depth + 1,
    ...defined(changes),
  });

  if (uniqueItems === true)
    errors.push(
      field.forbidden(
        `${at}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  if (additionalProperties !== undefined) {
    if (Object.keys(properties).length > 0 && additionalProperties !== true)
      errors.push(
        field.forbidden(`${at}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
      );
    if (isObject(additionalProperties))
      check(
        additionalProperties,
        inner(
          ".additionalProperties",
          inMeta ? { noDefault: "inside additionalProperties applying to object metadata" } : {},
        ),
        errors,
      );
  }
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const isMeta = (place.isRoot || schema["x-kubernetes-embedded-resource"] === true) && META_FIELDS.has(name);
    check(
      property,
      inner(`.properties[${name}]`, {
        inMeta: isMeta ? true : undefined,
        noDefault: isMeta && place.isRoot ? `in top-level ${name}` : undefined,
      }),
      errors,
    );
  }
  if (isObject(schema["not"])) check(schema["not"], inner(".not"), errors);
  for (const key of ["allOf", "oneOf", "anyOf"]) checkEach(schema[key], (index) => inner(`.${key}[${index}]`), errors);
  for (const [name, definition] of Object.entries(isObject(schema["definitions"]) ? schema["definitions"] : {}))
    if (isObject(definition)) check(definition, inner(`.definitions[${name}]`), errors);
  if (isObject(items)) check(items, inner(".items"), errors);
  else checkEach(items, (index) => inner(`.items[${index}]`), errors);
  for (const [name, dependency] of Object.entries(isObject(schema["dependencies"]) ? schema["dependencies"] : {}))
    if (isObject(dependency)) check(dependency, inner(`.dependencies[${name}]`), errors);
  checkExtensions(schema, at, errors);
}

function checkEach(list: Json | undefined, placeOf: (index: number) => Place, errors: FieldError[]): void {
  if (Array.isArray(list))
    for (const [index, item] of list.entries()) if (isObject(item)) check(item, placeOf(index), errors);
}

function checkKeywords(schema: JsonObject, { at, noDefault, inMeta }: Place, errors: FieldError[]): void {
  const { type, items } = schema;
  if (typeof type === "string" && type !== "" && !TYPES.includes(type))
    errors.push(field.notSupported(`${at}.type`, type, TYPES));
  if (schema["default"] !== undefined && noDefault !== undefined)
    errors.push(field.forbidden(`${at}.default`, `must not be set ${noDefault}`));
  for (const key of ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"])
    if (schema[key] !== undefined) errors.push(field.forbidden(`${at}.${key}`, `${key} is not supported`));
  if (type === "null")
    errors.push(field.forbidden(`${at}.type`, "type cannot be set to null, use nullable as an alternative"));
  if (Array.isArray(items))
    errors.push(field.forbidden(`${at}.items`, "items must be a schema object and not an array"));
  if (inMeta && schema["x-kubernetes-embedded-resource"] === true)
    errors.push(field.forbidden(`${at}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
}

function checkExtensions(schema: JsonObject, at: string, errors: FieldError[]): void {
  const listType = schema["x-kubernetes-list-type"];
  const mapType = schema["x-kubernetes-map-type"];
  const keys = schema["x-kubernetes-list-map-keys"];
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    errors.push(field.invalid(`${at}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  if (mapType !== undefined) {
    checkTypeFor(schema, "object", `${at}.type`, "must be object if x-kubernetes-map-type is specified", errors);
    if (mapType !== "atomic" && mapType !== "granular")
      errors.push(field.notSupported(`${at}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  }
  if (listType !== undefined) {
    if (schema["type"] !== "array")
      checkTypeFor(schema, "array", `${at}.type`, "must be array if x-kubernetes-list-type is specified", errors);
    else if (listType === "set" && isObject(schema["items"])) checkSetItems(schema["items"], `${at}.items`, errors);
    if (listType !== "atomic" && listType !== "set" && listType !== "map")
      errors.push(field.notSupported(`${at}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
  }
  if (Array.isArray(keys) && keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    errors.push(
      listType === undefined
        ? field.required(`${at}.x-kubernetes-list-type`, detail)
        : field.invalid(`${at}.x-kubernetes-list-type`, listType, detail),
    );
  }
  const keyNames = Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : [];
  if (listType === "map") checkMapList(schema, keyNames, at, errors);
  if ((listType === "map" || listType === "set") && isObject(schema["items"]))
    checkIdentities(schema["items"], listType, keyNames, `${at}.items`, errors);
}

function checkTypeFor(schema: JsonObject, type: string, path: string, detail: string, errors: FieldError[]): void {
  const actual = schema["type"] ?? "";
  if (actual === "") errors.push(field.required(path, detail));
  else if (actual !== type) errors.push(field.invalid(path, actual, detail));
}

/** Set elements are compared as a whole, so their fields have no separate owners. */
function checkSetItems(items: JsonObject, at: string, errors: FieldError[]): void {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items["type"] === "array" && listType !== undefined && listType !== "atomic")
    errors.push(field.invalid(`${at}.x-kubernetes-list-type`, listType, detail));
  // The real server prints the list type here, which objects do not have.
  if (items["type"] === "object" && items["x-kubernetes-map-type"] !== "atomic")
    errors.push(field.invalid(`${at}.x-kubernetes-map-type`, listType ?? null, detail));
}

function checkMapList(schema: JsonObject, keys: readonly string[], at: string, errors: FieldError[]): void {
  const { items } = schema;
  if (keys.length === 0)
    errors.push(
      field.required(`${at}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"),
    );
  if (items === undefined)
    errors.push(field.required(`${at}.items`, "must have a schema if x-kubernetes-list-type is map"));
  else if (!isObject(items))
    errors.push(field.invalid(`${at}.items`, items, "must only have a single schema if x-kubernetes-list-type is map"));
  else if (items["type"] !== "object")
    errors.push(
      field.invalid(
        `${at}.items.type`,
        items["type"] ?? "",
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    );
  else {
    const properties = propertiesOf(items);
    const seen = new Set<string>();
    for (const key of keys) {
      const property = properties[key];
      if (!isObject(property))
        errors.push(
          field.invalid(`${at}.x-kubernetes-list-map-keys`, keys, "entries must all be names of item properties"),
        );
      else if (property["type"] === "array" || property["type"] === "object") {
        errors.push(
          field.invalid(
            `${at}.items.properties[${key}].type`,
            items["type"],
            "must be a scalar type if parent array's x-kubernetes-list-type is map",
          ),
        );
      }
      if (seen.has(key))
        errors.push(field.invalid(`${at}.x-kubernetes-list-map-keys`, keys, "must not contain duplicate entries"));
      seen.add(key);
    }
  }
}

/** Fields that identify a list element must be present. */
function checkIdentities(
  items: JsonObject,
  listType: "map" | "set",
  keys: readonly string[],
  at: string,
  errors: FieldError[],
): void {
  if (items["nullable"] === true)
    errors.push(field.forbidden(`${at}.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  if (listType !== "map") return;
  const properties = propertiesOf(items);
  const required = Array.isArray(items["required"]) ? items["required"] : [];
  for (const key of keys) {
    const property = properties[key];
    if (!isObject(property)) continue;
    const path = `${at}.properties[${key}]`;
    if (property["default"] === undefined && !required.includes(key))
      errors.push(
        field.required(
          `${path}.default`,
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
      );
    if (property["nullable"] === true)
      errors.push(
        field.forbidden(`${path}.nullable`, "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"),
      );
  }
}
