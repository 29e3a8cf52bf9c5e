/**
 * Converts schemas inside `items`, `additionalProperties` and similar keywords to their canonical form. The fact tables
 * skip them because the value may be something other than a schema. Unknown keys are dropped silently there.
 */
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { canonicalPart, jsonTypeName, parseApiVersion, structOf, undecodable } from "@flotilla/apimachinery";
import type { CustomResourceDefinition } from "@flotilla/apimachinery/facts/apiextensions-v1.ts";

const FACTS = "apiextensions-v1";
const SCHEMA = "JSONSchemaProps";

/** Returns the CRD itself when all its schemas are canonical. Throws 400 for a value of the wrong type. */
export function canonicalSchemas(
  definition: DeepReadonly<CustomResourceDefinition>,
): DeepReadonly<CustomResourceDefinition> {
  const { versions } = definition.spec;
  if (!Array.isArray(versions)) return definition;
  const canonical = mapShared(versions as readonly Json[], (version) => {
    const schema = isObject(version) && isObject(version["schema"]) ? version["schema"]["openAPIV3Schema"] : undefined;
    if (!isObject(schema)) return version;
    const after = withCanonicalParts(schema, definition);
    return after === schema ? version : { ...(version as JsonObject), schema: { openAPIV3Schema: after } };
  });
  return canonical === versions
    ? definition
    : ({
        ...definition,
        spec: { ...definition.spec, versions: canonical },
      } as unknown as DeepReadonly<CustomResourceDefinition>);
}

type Names = Pick<CustomResourceDefinition, "apiVersion" | "kind">;

/** Returns a schema with canonical fields, with its nested schemas converted too. */
function withCanonicalParts(schema: JsonObject, names: DeepReadonly<Names>): JsonObject {
  let result = schema;
  const replace = (key: string, after: Json | undefined): void => {
    if (after === schema[key]) return;
    if (result === schema) result = { ...schema };
    if (after === undefined) delete result[key];
    else result[key] = after;
  };
  for (const key of ["items", "additionalProperties", "additionalItems"])
    if (schema[key] !== undefined) replace(key, schemaOrOther(checked(key, schema[key], names), names));
  for (const key of ["properties", "patternProperties", "definitions", "dependencies"]) {
    const map = schema[key];
    if (isObject(map))
      replace(
        key,
        mapValues(map, (value) =>
          key === "dependencies"
            ? (schemaOrOther(value, names) ?? {})
            : isObject(value)
              ? withCanonicalParts(value, names)
              : value,
        ),
      );
  }
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    const list = schema[key];
    if (Array.isArray(list))
      replace(key, mapShared(list, (value) => (isObject(value) ? withCanonicalParts(value, names) : value)) as Json[]);
  }
  if (isObject(schema["not"])) replace("not", withCanonicalParts(schema["not"], names));
  return result;
}

/** Throws 400 when the value is neither a schema nor one of the permitted alternatives. */
function checked(key: string, value: Json, { kind, apiVersion }: DeepReadonly<Names>): Json {
  const refuse = (problem: string): Error =>
    undecodable({ sent: kind, version: parseApiVersion(apiVersion).version, kind }, problem);
  if (isObject(value)) return value;
  if (key !== "items" && typeof value !== "boolean") throw refuse("boolean or JSON schema expected");
  if (key === "items" && !Array.isArray(value))
    throw refuse(`json: cannot unmarshal ${jsonTypeName(value)} into Go value of type []v1.JSONSchemaProps`);
  return value;
}

/** A schema, a list of schemas, or a boolean. */
function schemaOrOther(value: Json, names: DeepReadonly<Names>): Json | undefined {
  if (Array.isArray(value))
    return value.length === 0 ? undefined : (mapShared(value, (item) => schemaOrOther(item, names) ?? {}) as Json[]);
  if (!isObject(value)) return value;
  const { flat } = structOf(FACTS, SCHEMA);
  const known = Object.keys(value).every((key) => flat.has(key))
    ? value
    : Object.fromEntries(Object.entries(value).filter(([key]) => flat.has(key)));
  return withCanonicalParts(canonicalPart(FACTS, SCHEMA, known, names), names);
}

function mapShared(list: readonly Json[], change: (item: Json) => Json): readonly Json[] {
  let result: Json[] | undefined;
  for (const [index, item] of list.entries()) {
    const after = change(item);
    if (after !== item) (result ??= [...list])[index] = after;
  }
  return result ?? list;
}

function mapValues(map: JsonObject, change: (value: Json) => Json): JsonObject {
  let result: JsonObject | undefined;
  for (const key of Object.keys(map)) {
    const before = map[key] as Json;
    const after = change(before);
    if (after !== before) (result ??= { ...map })[key] = after;
  }
  return result ?? map;
}
