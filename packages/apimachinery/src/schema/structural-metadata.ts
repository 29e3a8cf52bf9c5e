/**
 * Coerces metadata to its canonical form: known fields only, of their types, and none that is empty. Used for embedded
 * objects and for whole custom resources.
 */
import { isObject, setOwn, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { DecodeError } from "../text/decode-error.ts";
import { formatValue } from "../format-value.ts";
import { timeProblem } from "../exact/go-time.ts";
import { OBJECT_META } from "../object-meta-schema.ts";
import { jsonTypeName } from "../patch/patch-errors.ts";
import type { Schema } from "../schema.ts";

const TIMES = new Set(["creationTimestamp", "deletionTimestamp"]);

/**
 * Returns the same object when it is canonical. Paths of unknown fields start with `field`. With `strict`, throws a
 * `DecodeError` for a field of the wrong type; otherwise drops it. Parts that are identical in `settled` are canonical.
 */
export function coerceMetadata(
  metadata: Json,
  field: string,
  unknownFields: string[] | undefined,
  strict: boolean,
  settled?: JsonObject,
): JsonObject {
  const problem = strict ? metadataProblem(metadata, settled) : undefined;
  if (problem !== undefined) throw new DecodeError(`${field}: Invalid value: ${formatValue(metadata)}: ${problem}`);
  if (!isObject(metadata)) return {};
  const { properties = {} } = OBJECT_META;
  let result: JsonObject | undefined;
  for (const key of Object.keys(metadata)) {
    const value = metadata[key] as Json;
    if (settled && value === settled[key]) continue;
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!schema) unknownFields?.push(`${field}.${key}`);
    else if (!isEmpty(value) && fits(key, schema, value)) {
      const known = Array.isArray(value)
        ? withKnownItems(schema, value, `${field}.${key}`, unknownFields)
        : isObject(value)
          ? withoutNulls(value)
          : value;
      if (known !== value) setOwn((result ??= { ...metadata }), key, known);
      continue;
    }
    Reflect.deleteProperty((result ??= { ...metadata }), key);
  }
  return result ?? metadata;
}

/**
 * Why metadata cannot be decoded, in Go's wording; undefined when it can. Parts that are identical in `settled` are
 * valid.
 */
export function metadataProblem(metadata: Json | undefined, settled?: JsonObject): string | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  if (!isObject(metadata))
    return `json: cannot unmarshal ${jsonTypeName(metadata)} into Go value of type v1.ObjectMeta`;
  const { properties = {} } = OBJECT_META;
  for (const key of Object.keys(metadata)) {
    const value = metadata[key] as Json;
    const schema = (settled && value === settled[key]) || !Object.hasOwn(properties, key) ? undefined : properties[key];
    if (schema && !fits(key, schema, value)) return typeProblem(key, schema, value);
  }
  return undefined;
}

/** The fields that identify and mark an object. */
const IDENTITY_FIELDS = ["name", "namespace", "generateName", "labels", "annotations"];

/**
 * Why the type or the identity of a manifest inside another object cannot be decoded. Its other fields are decoded
 * where it is applied.
 */
export function manifestProblem({ apiVersion, metadata }: DeepReadonly<JsonObject>): string | undefined {
  if (apiVersion !== undefined && typeof apiVersion !== "string")
    return `json: cannot unmarshal ${jsonTypeName(apiVersion as Json)} into Go struct field .apiVersion of type string`;
  if (!isObject(metadata)) return undefined;
  const known = Object.keys(metadata).filter((key) => IDENTITY_FIELDS.includes(key) && metadata[key] !== null);
  return metadataProblem(Object.fromEntries(known.map((key) => [key, metadata[key] as Json])));
}

const GO_TYPES: Readonly<Record<string, string>> = {
  string: "string",
  integer: "int64",
  boolean: "bool",
  array: "[]string",
  object: "map[string]string",
};

function typeProblem(key: string, schema: Schema, value: Json): string {
  if (typeof value === "string" && TIMES.has(key)) return timeProblem(value, false) ?? "";
  const { additionalProperties, items } = schema;
  const inner =
    isObject(value) && typeof additionalProperties === "object"
      ? additionalProperties
      : Array.isArray(value)
        ? items
        : undefined;
  const invalidField = inner
    ? (Object.values(value as object) as Json[]).find((item) => item !== null && !hasType(inner, item))
    : value;
  return (
    `json: cannot unmarshal ${jsonTypeName(invalidField ?? value)} into Go struct field ObjectMeta.${key} of ` +
    `type ${GO_TYPES[(inner ?? schema).type ?? ""] ?? "v1.ObjectMeta"}`
  );
}

function fits(key: string, schema: Schema, value: Json): boolean {
  return (
    hasType(schema, value) && (typeof value !== "string" || !TIMES.has(key) || timeProblem(value, false) === undefined)
  );
}

function hasType({ type, additionalProperties, items }: Schema, value: Json): boolean {
  if (value === null) return true;
  if (type === "string") return typeof value === "string";
  if (type === "integer") return Number.isInteger(value);
  if (type === "boolean") return typeof value === "boolean";
  if (type === "array") return Array.isArray(value) && value.every((item) => !items || hasType(items, item));
  if (!isObject(value)) return false;
  return (
    typeof additionalProperties !== "object" ||
    Object.values(value).every((item) => hasType(additionalProperties, item))
  );
}

/** In a map of strings null represents the empty string. */
function withoutNulls(texts: JsonObject): JsonObject {
  if (!Object.values(texts).includes(null)) return texts;
  return Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, value ?? ""]));
}

/** Owner references and similar lists, without unknown fields. */
function withKnownItems({ items }: Schema, list: Json[], field: string, unknownFields: string[] | undefined): Json[] {
  const { properties } = items ?? {};
  if (!properties) return list;
  let result: Json[] | undefined;
  for (const [index, item] of list.entries()) {
    if (!isObject(item) || Object.keys(item).every((key) => Object.hasOwn(properties, key))) continue;
    for (const key of Object.keys(item))
      if (!Object.hasOwn(properties, key)) unknownFields?.push(`${field}[${index}].${key}`);
    (result ??= [...list])[index] = Object.fromEntries(
      Object.entries(item).filter(([key]) => Object.hasOwn(properties, key)),
    );
  }
  return result ?? list;
}

/** Empty fields, which Kubernetes omits when it writes metadata. */
function isEmpty(value: Json): boolean {
  if (value === null || value === "" || value === 0) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}
