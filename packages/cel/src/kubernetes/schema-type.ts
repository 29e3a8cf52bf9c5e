/**
 * Types of variables from structural schemas, with the bounds for static cost: the number of characters, elements or
 * entries that fit into the largest request, unless the schema sets a lower limit.
 */
import type { Schema } from "@flotilla/apimachinery";
import { escapeName } from "../syntax/escaping.ts";
import { withResourceFields } from "../compile/json-values.ts";
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP } from "../types/types.ts";

export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

const MAX_DURATION = 32;
const MAX_DATE_TIME = 32;
const DATE = 12;
const MIN_DATE_TIME = 21;
const MIN_DURATION = 3;
const MIN_TEXT = 2;
const MIN_BOOL = 4;
const MIN_NUMBER = 1;

export interface DeclareSchemaOptions {
  /** The schema of a whole resource: its kind, version and name can be used though the schema does not state them. */
  isResource?: boolean;
  /** The type name of the object itself in messages. */
  name?: string;
}

/** The type of values of a schema; undefined when rules cannot access them, such as data without a schema. */
export function declareSchemaType(
  schema: Schema,
  { isResource = false, name = "selfType" }: DeclareSchemaOptions = {},
): CelType | undefined {
  return typeFor(schema, isResource, name, new Set());
}

const sized = (type: CelType, minSerializedSize: number, maxElements = 0): CelType => ({
  ...type,
  minSerializedSize,
  maxElements,
});

/** `within` are the schemas that contain this one: only schemas of built-in kinds can contain themselves. */
function typeFor(schema: Schema, isResource: boolean, name: string, within: Set<Schema>): CelType | undefined {
  if (within.has(schema)) return DYN;
  within.add(schema);
  const type = typeOfSchema(schema, isResource, name, within);
  within.delete(schema);
  return type;
}

function typeOfSchema(schema: Schema, isResource: boolean, name: string, within: Set<Schema>): CelType | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    return sized(DYN, 1, schema.maxLength === undefined ? MAX_REQUEST_BYTES - 2 : atLeastZero(schema.maxLength) * 4);
  }
  switch (schema.type) {
    case "array":
      return listType(schema, name, within);
    case "object":
      return objectType(isResource ? withResourceFields(schema) : schema, name, within);
    case "string":
      return textType(schema);
    case "boolean":
      return sized(BOOL, MIN_BOOL);
    case "number":
      return sized(DOUBLE, MIN_NUMBER);
    case "integer":
      return sized(INT, MIN_NUMBER);
    default:
      return undefined;
  }
}

const atLeastZero = (value: number): number => Math.max(0, value);
const isEmbedded = (schema: Schema): boolean => schema["x-kubernetes-embedded-resource"] === true;
const smallest = (type: CelType): number => type.minSerializedSize ?? 0;

function listType({ items, maxItems }: Schema, name: string, within: Set<Schema>): CelType | undefined {
  const element = items && typeFor(items, isEmbedded(items), `${name}.@idx`, within);
  if (!element) return undefined;
  const maxElements =
    maxItems === undefined ? Math.floor((MAX_REQUEST_BYTES - 2) / (smallest(element) + 1)) : atLeastZero(maxItems);
  return { kind: "list", name: "list", parameters: [element], maxElements, minSerializedSize: 2 };
}

function objectType(schema: Schema, name: string, within: Set<Schema>): CelType | undefined {
  const { additionalProperties, maxProperties, properties, required } = schema;
  if (typeof additionalProperties === "object") {
    const value = typeFor(additionalProperties, isEmbedded(additionalProperties), `${name}.@elem`, within);
    if (!value) return undefined;
    const maxElements =
      maxProperties === undefined
        ? Math.floor((MAX_REQUEST_BYTES - 2) / (smallest(value) + 6))
        : atLeastZero(maxProperties);
    return {
      kind: "map",
      name: "map",
      parameters: [sized(STRING, MIN_TEXT), value],
      maxElements,
      minSerializedSize: 2,
    };
  }
  const fields = new Map<string, CelType>();
  let minSerializedSize = 2;
  for (const [key, property] of Object.entries(properties ?? {})) {
    const escaped = escapeName(key);
    const type = typeFor(property, isEmbedded(property), `${name}.${escaped ?? key}`, within);
    if (!type) continue;
    if (escaped !== undefined) fields.set(escaped, type);
    // The name, its quotes, a colon and a comma; fields with a default need not be sent.
    if (required?.includes(key) && property.default === undefined)
      minSerializedSize += Buffer.byteLength(key) + smallest(type) + 4;
  }
  return { kind: "struct", name, parameters: [], fields, minSerializedSize, maxElements: 0 };
}

function textType(schema: Schema): CelType {
  const { format, maxLength, enum: values } = schema;
  switch (format) {
    case "byte":
      return sized(BYTES, MIN_TEXT, maxLength === undefined ? MAX_REQUEST_BYTES - 2 : atLeastZero(maxLength));
    case "duration":
      return sized(DURATION, MIN_DURATION, MAX_DURATION);
    case "date":
      return sized(TIMESTAMP, DATE, DATE);
    case "date-time":
      return sized(TIMESTAMP, MIN_DATE_TIME, MAX_DATE_TIME);
    default:
      // A character has up to four bytes.
      if (maxLength !== undefined) return sized(STRING, MIN_TEXT, atLeastZero(maxLength) * 4);
      if (values && values.length > 0)
        return sized(
          STRING,
          MIN_TEXT,
          Math.max(0, ...values.map((value) => (typeof value === "string" ? Buffer.byteLength(value) : 0))),
        );
      return sized(STRING, MIN_TEXT, MAX_REQUEST_BYTES - 2);
  }
}
