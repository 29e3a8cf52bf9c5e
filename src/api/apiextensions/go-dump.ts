/**
 * Some messages of the real server print its internal form of versions and schemas. The names and their order are part
 * of the wire format; nothing else here depends on them.
 */
import { isObject, type DeepReadonly, type Json, type JsonObject } from "../../base/index.ts";
import type { CustomResourceDefinitionVersion } from "../facts/apiextensions-v1.ts";

/** The internal name, the JSON name, and the content: a plain value with its zero value, or nested schemas. */
type Part = readonly [inner: string, outer: string, absent: Json | { readonly form: Form }];
type Form = "schema" | "schemas" | "map" | "array" | "boolean" | "rules";

const SCHEMA_PARTS: readonly Part[] = [
  ["ID", "id", ""],
  ["Schema", "$schema", ""],
  ["Ref", "$ref", null],
  ["Description", "description", ""],
  ["Type", "type", ""],
  ["Nullable", "nullable", false],
  ["Format", "format", ""],
  ["Title", "title", ""],
  ["Default", "default", null],
  ["Maximum", "maximum", null],
  ["ExclusiveMaximum", "exclusiveMaximum", false],
  ["Minimum", "minimum", null],
  ["ExclusiveMinimum", "exclusiveMinimum", false],
  ["MaxLength", "maxLength", null],
  ["MinLength", "minLength", null],
  ["Pattern", "pattern", ""],
  ["MaxItems", "maxItems", null],
  ["MinItems", "minItems", null],
  ["UniqueItems", "uniqueItems", false],
  ["MultipleOf", "multipleOf", null],
  ["Enum", "enum", null],
  ["MaxProperties", "maxProperties", null],
  ["MinProperties", "minProperties", null],
  ["Required", "required", null],
  ["Items", "items", { form: "array" }],
  ["AllOf", "allOf", { form: "schemas" }],
  ["OneOf", "oneOf", { form: "schemas" }],
  ["AnyOf", "anyOf", { form: "schemas" }],
  ["Not", "not", { form: "schema" }],
  ["Properties", "properties", { form: "map" }],
  ["AdditionalProperties", "additionalProperties", { form: "boolean" }],
  ["PatternProperties", "patternProperties", { form: "map" }],
  ["Dependencies", "dependencies", null],
  ["AdditionalItems", "additionalItems", { form: "boolean" }],
  ["Definitions", "definitions", { form: "map" }],
  ["ExternalDocs", "externalDocs", null],
  ["Example", "example", null],
  ["XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", null],
  ["XEmbeddedResource", "x-kubernetes-embedded-resource", false],
  ["XIntOrString", "x-kubernetes-int-or-string", false],
  ["XListMapKeys", "x-kubernetes-list-map-keys", null],
  ["XListType", "x-kubernetes-list-type", null],
  ["XMapType", "x-kubernetes-map-type", null],
  ["XValidations", "x-kubernetes-validations", { form: "rules" }],
];

/** Keywords allowed at the root of a schema with the status subresource enabled. */
export const ROOT_PARTS =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";

/** Returns the internal names of the keywords a schema sets. */
export function statedParts(schema: JsonObject): string[] {
  return SCHEMA_PARTS.filter(([, outer]) => schema[outer] !== undefined).map(([inner]) => inner);
}

export function dumpSchema(schema: JsonObject): JsonObject {
  const dump: JsonObject = {};
  for (const [inner, outer, absent] of SCHEMA_PARTS)
    dump[inner] = isForm(absent) ? dumpForm(schema[outer], absent.form) : (schema[outer] ?? absent);
  return dump;
}

const isForm = (absent: Part[2]): absent is { readonly form: Form } =>
  typeof absent === "object" && absent !== null && "form" in absent;

function dumpForm(value: Json | undefined, form: Form): Json {
  switch (form) {
    case "schema":
      return isObject(value) ? dumpSchema(value) : null;
    case "schemas":
      return Array.isArray(value) ? value.filter(isObject).map(dumpSchema) : null;
    case "map":
      return isObject(value)
        ? Object.fromEntries(
            Object.keys(value)
              .sort()
              .map((key) => [key, dumpForm(value[key], "schema")]),
          )
        : null;
    case "array":
      return value === undefined
        ? null
        : { Schema: dumpForm(value, "schema"), JSONSchemas: dumpForm(value, "schemas") };
    case "boolean":
      return value === undefined ? null : { Allows: value !== false, Schema: dumpForm(value, "schema") };
    default:
      return Array.isArray(value) ? value.filter(isObject).map(dumpRule) : null;
  }
}

function dumpRule({
  rule = "",
  message = "",
  messageExpression = "",
  reason = null,
  fieldPath = "",
  optionalOldSelf = null,
}: JsonObject): JsonObject {
  return {
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf,
  };
}

export function dumpVersion(version: DeepReadonly<CustomResourceDefinitionVersion>): JsonObject {
  const {
    name,
    served,
    storage,
    deprecated = false,
    deprecationWarning = null,
    schema,
    subresources,
    additionalPrinterColumns,
    selectableFields,
  } = version;
  const { status, scale } = subresources ?? {};
  return {
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated,
    DeprecationWarning: deprecationWarning,
    Schema: schema
      ? { OpenAPIV3Schema: schema.openAPIV3Schema ? dumpSchema(schema.openAPIV3Schema as JsonObject) : null }
      : null,
    Subresources: subresources
      ? {
          Status: status ? {} : null,
          Scale: scale
            ? {
                SpecReplicasPath: scale.specReplicasPath,
                StatusReplicasPath: scale.statusReplicasPath,
                LabelSelectorPath: scale.labelSelectorPath ?? null,
              }
            : null,
        }
      : null,
    AdditionalPrinterColumns:
      additionalPrinterColumns?.map(
        ({ name: column, type, format = "", description = "", priority = 0, jsonPath }) => ({
          Name: column,
          Type: type,
          Format: format,
          Description: description,
          Priority: priority,
          JSONPath: jsonPath,
        }),
      ) ?? null,
    SelectableFields: selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath })) ?? null,
  };
}
