/** Whether a schema is structural: every field has one type, known at every level, so that it can prune, default and apply. */
import { isObject } from "../base/index.ts";
import { compilePattern, compileSchema } from "../machinery/index.ts";
import type { FieldError, Schema } from "../machinery/index.ts";
import { forbiddenField, invalidValue, requiredValue, unsupportedValue } from "./context.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const UNSUPPORTED = ["$ref", "id", "patternProperties", "dependencies", "definitions", "additionalItems"];
const JUNCTORS = ["allOf", "anyOf", "oneOf"] as const;
/** Inside a junctor only constraints on values may stand. */
const NOT_IN_JUNCTOR = ["type", "description", "default", "nullable", "additionalProperties", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"] as const;
const MAX_ERRORS = 50;

export function structuralErrors(schema: Schema, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!schema.type) errors.push(requiredValue(`${field}.type`, "must not be empty at the root"));
  else if (schema.type !== "object") errors.push(invalidValue(`${field}.type`, schema.type, "must be object at the root"));
  walk(schema, field, errors, true);
  const { metadata, apiVersion, kind } = schema.properties ?? {};
  if (metadata && Object.keys(metadata.properties ?? {}).some((name) => name !== "name" && name !== "generateName")) {
    errors.push(forbiddenField(`${field}.properties[metadata]`, "must not specify anything other than name and generateName, but metadata is implicitly specified"));
  }
  for (const [name, property] of Object.entries({ apiVersion, kind })) {
    if (property?.type !== undefined && property.type !== "string") errors.push(invalidValue(`${field}.properties[${name}].type`, property.type, "must be string"));
  }
  return errors.slice(0, MAX_ERRORS);
}

function walk(schema: Schema, field: string, errors: FieldError[], isRoot = false): void {
  if (errors.length >= MAX_ERRORS) return;
  for (const name of UNSUPPORTED) if (Object.hasOwn(schema, name)) errors.push(forbiddenField(`${field}.${name}`, `${name} is not supported`));
  typeErrors(schema, field, errors, isRoot);
  listErrors(schema, field, errors);
  if (schema.uniqueItems) errors.push(forbiddenField(`${field}.uniqueItems`, "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
  if (schema.pattern !== undefined) patternErrors(schema.pattern, `${field}.pattern`, errors);
  if (schema.default !== undefined) defaultErrors(schema, field, errors);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (isRoot && (name === "metadata" || name === "apiVersion" || name === "kind")) continue;
    walk(property, `${field}.properties[${name}]`, errors);
  }
  if (schema.items) walk(schema.items, `${field}.items`, errors);
  if (isObject(schema.additionalProperties)) walk(schema.additionalProperties as Schema, `${field}.additionalProperties`, errors);
  for (const junctor of JUNCTORS) for (const [index, inner] of (schema[junctor] ?? []).entries()) junctorErrors(inner, schema, `${field}.${junctor}[${index}]`, errors);
  if (schema.not) junctorErrors(schema.not, schema, `${field}.not`, errors);
}

function typeErrors(schema: Schema, field: string, errors: FieldError[], isRoot: boolean): void {
  const { type } = schema;
  if (type !== undefined && !TYPES.includes(type)) errors.push(unsupportedValue(`${field}.type`, type, TYPES));
  const open = schema["x-kubernetes-int-or-string"] || schema["x-kubernetes-preserve-unknown-fields"];
  if (!type && !open && !isRoot) errors.push(requiredValue(`${field}.type`, "must not be empty for specified object fields"));
  if (type === "array" && !schema.items) errors.push(requiredValue(`${field}.items`, "must be specified"));
  if (schema["x-kubernetes-embedded-resource"]) {
    if (!schema.properties && !schema["x-kubernetes-preserve-unknown-fields"]) {
      errors.push(requiredValue(`${field}.properties`, "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"));
    }
    if (type !== "object") errors.push(requiredValue(`${field}.type`, "must be object if x-kubernetes-embedded-resource is true"));
  }
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType !== undefined && mapType !== "atomic" && mapType !== "granular") errors.push(unsupportedValue(`${field}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
}

function listErrors(schema: Schema, field: string, errors: FieldError[]): void {
  const listType = schema["x-kubernetes-list-type"];
  if (listType === undefined) return;
  if (!["atomic", "set", "map"].includes(listType)) return void errors.push(unsupportedValue(`${field}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
  if (schema.type !== "array") return void errors.push(invalidValue(`${field}.type`, schema.type ?? "", "must be array if x-kubernetes-list-type is specified"));
  if (listType !== "map") return;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const items = schema.items;
  if (keys.length === 0) errors.push(requiredValue(`${field}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"));
  if (items?.type !== "object") return void errors.push(invalidValue(`${field}.items.type`, items?.type ?? "", "must be object if parent array's x-kubernetes-list-type is map"));
  const properties = items.properties ?? {};
  if (keys.some((key) => !Object.hasOwn(properties, key))) errors.push(invalidValue(`${field}.x-kubernetes-list-map-keys`, keys, "entries must all be names of item properties"));
  for (const key of keys) {
    if (!properties[key] || properties[key].default !== undefined || items.required?.includes(key)) continue;
    errors.push(requiredValue(`${field}.items.properties[${key}].default`, "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"));
  }
}

function patternErrors(pattern: string, field: string, errors: FieldError[]): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    errors.push(invalidValue(field, pattern, `must be a valid regular expression, but isn't: ${(error as Error).message}`));
  }
}

/** A default must be what the schema would store. It is looked at as a field, because schemas are compiled for whole objects. */
function defaultErrors(schema: Schema, field: string, errors: FieldError[]): void {
  const { default: fallback, ...rest } = schema;
  const compiled = compileSchema({ type: "object", properties: { value: rest } });
  const unknownFields: string[] = [];
  const admitted = compiled.admit({ value: fallback ?? null }, { unknownFields });
  if (unknownFields.length > 0) errors.push(invalidValue(`${field}.default`, fallback, "must not have unknown fields"));
  else for (const { type, message } of compiled.validate(admitted)) errors.push({ type, field: `${field}.default`, message });
}

function junctorErrors(inner: Schema, outer: Schema, field: string, errors: FieldError[]): void {
  for (const name of NOT_IN_JUNCTOR) {
    if (inner[name] === undefined) continue;
    // `anyOf: [integer, string]` is how int-or-string is written for those who do not know the extension.
    if (name === "type" && outer["x-kubernetes-int-or-string"]) continue;
    errors.push(forbiddenField(`${field}.${name}`, "must be undefined to be structural"));
  }
}
