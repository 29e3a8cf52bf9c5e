/** Encodes an OpenAPI v3 document in gnostic's protobuf form, which client-go's typed OpenAPI client requests. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { each, encodeShape, entries, message } from "../codec/message-shapes.ts";
import type { Messages, Shape } from "../codec/message-shapes.ts";

const isReference = (value: Json): boolean => isObject(value) && value.$ref !== undefined;

/** The thing itself, or a reference to it. */
const orReference = (name: string): Shape => ({
  choose: (value) => (isReference(value) ? [2, message("Reference")] : [1, message(name)]),
});

const SCHEMA = orReference("Schema");
const MEDIA_TYPES = entries(message("MediaType"));
const OPERATION = message("Operation");

/** Only scalars have a form; the default of a struct, an empty object, is omitted. */
const DEFAULT: Shape = {
  choose(value: Json) {
    if (typeof value === "number") return [1, "double"];
    if (typeof value === "boolean") return [2, "bool"];
    return typeof value === "string" ? [3, "string"] : [0, "any"];
  },
};

const MESSAGES: Messages = {
  Document: {
    extensions: 9,
    fields: {
      openapi: [1, "string"],
      info: [2, message("Info")],
      paths: [4, entries(message("PathItem"))],
      components: [5, message("Components")],
    },
  },
  Info: { extensions: 7, fields: { title: [1, "string"], description: [2, "string"], version: [6, "string"] } },
  Components: {
    extensions: 10,
    fields: { schemas: [1, entries(SCHEMA)], securitySchemes: [7, entries(orReference("SecurityScheme"))] },
  },
  SecurityScheme: {
    extensions: 9,
    fields: { type: [1, "string"], description: [2, "string"], name: [3, "string"], in: [4, "string"] },
  },
  PathItem: {
    extensions: 14,
    fields: {
      get: [4, OPERATION],
      put: [5, OPERATION],
      post: [6, OPERATION],
      delete: [7, OPERATION],
      options: [8, OPERATION],
      head: [9, OPERATION],
      patch: [10, OPERATION],
      parameters: [13, each(orReference("Parameter"))],
    },
  },
  Operation: {
    extensions: 13,
    fields: {
      tags: [1, each("string")],
      description: [3, "string"],
      operationId: [5, "string"],
      parameters: [6, each(orReference("Parameter"))],
      requestBody: [7, orReference("RequestBody")],
      responses: [8, entries(orReference("Response"), 2)],
    },
  },
  Parameter: {
    extensions: 14,
    fields: {
      name: [1, "string"],
      in: [2, "string"],
      description: [3, "string"],
      required: [4, "bool"],
      schema: [10, SCHEMA],
    },
  },
  RequestBody: {
    extensions: 4,
    fields: { description: [1, "string"], content: [2, MEDIA_TYPES], required: [3, "bool"] },
  },
  Response: { extensions: 5, fields: { description: [1, "string"], content: [3, MEDIA_TYPES] } },
  MediaType: { extensions: 5, fields: { schema: [1, SCHEMA] } },
  Reference: { fields: { $ref: [1, "string"], description: [3, "string"] } },
  Schema: {
    extensions: 36,
    fields: {
      nullable: [1, "bool"],
      example: [7, "any"],
      deprecated: [8, "bool"],
      title: [9, "string"],
      multipleOf: [10, "double"],
      maximum: [11, "double"],
      exclusiveMaximum: [12, "bool"],
      minimum: [13, "double"],
      exclusiveMinimum: [14, "bool"],
      maxLength: [15, "int"],
      minLength: [16, "int"],
      pattern: [17, "string"],
      maxItems: [18, "int"],
      minItems: [19, "int"],
      uniqueItems: [20, "bool"],
      maxProperties: [21, "int"],
      minProperties: [22, "int"],
      required: [23, each("string")],
      enum: [24, each("any")],
      type: [25, "string"],
      allOf: [26, each(SCHEMA)],
      oneOf: [27, each(SCHEMA)],
      anyOf: [28, each(SCHEMA)],
      not: [29, message("Schema")],
      items: [30, { choose: () => [1, SCHEMA] }],
      properties: [31, entries(SCHEMA)],
      additionalProperties: [32, { choose: (value: Json) => (isObject(value) ? [1, SCHEMA] : [2, "bool"]) }],
      default: [33, DEFAULT],
      description: [34, "string"],
      format: [35, "string"],
    },
  },
};

export const encodeOpenApi = (document: JsonObject): Uint8Array => encodeShape(MESSAGES, "Document", document);
